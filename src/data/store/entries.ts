import { type Selection, slice } from './selection.ts'

/** The entries of a database as JSON bytes, serialised once when the snapshot is loaded. */
export interface Entries {
  readonly count: number
  /** Size of all entries in bytes. */
  readonly size: number
  /** The JSON of a page: some entries of a selection in their envelope. */
  page(selection: Selection, offset: number, limit: number): Buffer
}

/** The bytes of all entries in blocks, each entry followed by a comma. */
interface Bytes {
  /** `blockSize` entries each, except the last. Never concatenated: that would block the process and double the memory. */
  readonly blocks: readonly Buffer[]
  /** Start of each entry in the sequence of all blocks, and the end of the last entry. */
  readonly starts: Uint32Array
}

const head = Buffer.from('{"results":[')
/** Entries serialised per call: one call per entry costs more than the serialisation itself. */
const blockSize = 256

/**
 * Serialises entries one by one. All must have the same first key, must not be modified until finish(), and must not contain
 * arrays of objects.
 */
export function entryWriter(): { add(entry: object): void; finish(): Entries } {
  const blocks: Buffer[] = []
  let entries: object[] = []
  const starts = [0]
  let end = 0

  function flush(): void {
    if (entries.length === 0) return
    const json = JSON.stringify(entries)
    const bytes = Buffer.from(json)
    // As many bytes as UTF-16 units: ASCII, like most entries.
    const ascii = bytes.length === json.length
    let from = 1
    for (const to of ends(json, entries)) {
      end += (ascii ? to - from : Buffer.byteLength(json.slice(from, to))) + 1
      starts.push(end)
      from = to + 1
    }
    bytes[bytes.length - 1] = 0x2c
    blocks.push(bytes.subarray(1))
    entries = []
  }

  return {
    add(entry) {
      if (entries.push(entry) === blockSize) flush()
    },
    finish() {
      flush()
      return entriesOf({ blocks, starts: new Uint32Array(starts) })
    },
  }
}

/** A separate function, so that its closure does not keep the variables of the writer alive. */
function entriesOf(bytes: Bytes): Entries {
  const count = bytes.starts.length - 1
  return {
    count,
    size: bytes.starts[count] ?? 0,
    page: (selection, offset, limit) => page(bytes, slice(selection, offset, limit)),
  }
}

/**
 * End of each entry in the JSON of an array of entries. Quotes within strings are escaped, so `{"` followed by a letter
 * can only be the start of an object.
 */
function ends(json: string, entries: readonly object[]): number[] {
  const [key] = Object.keys(entries[0] ?? {})
  const edge = `},{${JSON.stringify(key)}:`
  const found: number[] = []
  for (let at = json.indexOf(edge); at !== -1; at = json.indexOf(edge, at + edge.length)) found.push(at + 1)
  found.push(json.length - 1)
  return found
}

/** The bytes of consecutive entries of one block. */
function part({ blocks, starts }: Bytes, from: number, to: number): Buffer {
  const number = Math.floor(from / blockSize)
  const start = starts[number * blockSize] ?? 0
  return (blocks[number] ?? head).subarray((starts[from] ?? 0) - start, (starts[to] ?? 0) - start)
}

function page(bytes: Bytes, { from, total, ids }: Selection): Buffer {
  const parts: Buffer[] = [head]
  if (ids === undefined) {
    for (let id = from; id < from + total; ) {
      const next = Math.min(id - (id % blockSize) + blockSize, from + total)
      parts.push(part(bytes, id, next))
      id = next
    }
  } else {
    for (const id of ids) parts.push(part(bytes, id, id + 1))
  }
  // Without the last comma.
  if (total > 0) {
    const last = parts.pop() ?? head
    parts.push(last.subarray(0, last.length - 1))
  }
  parts.push(Buffer.from(`],"count":${total}}`))
  return Buffer.concat(parts)
}
