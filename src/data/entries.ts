import { type Selection, slice } from './selection.ts'

/** The entries of a database as the bytes that replies are made of: serialised once, when the snapshot is loaded. */
export interface Entries {
  readonly count: number
  /** Size of all entries in bytes. */
  readonly size: number
  /** The entry page envelope of a part of a selection. */
  page(selection: Selection, offset: number, limit: number): Buffer
}

/** The bytes of all entries in blocks, each entry with a comma behind it. */
interface Bytes {
  /** Of `blockSize` entries each, but for the last. Never joined: that would hold up the process, and take the memory twice. */
  readonly blocks: readonly Buffer[]
  /** Where each entry starts if the blocks stood in a row, and where the last one ends. */
  readonly starts: Uint32Array
}

const head = Buffer.from('{"results":[')
/** Entries that are serialised at once: a call for each of a million takes longer than the work itself. */
const blockSize = 256

/**
 * Turns entries into bytes, one after the other. They all have the same first key, are left alone until finish(), and hold
 * no lists of objects.
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
    // As many bytes as UTF-16 units: plain ASCII, as most entries are.
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

/** Apart from the writer, whose variables it would else keep alive. */
function entriesOf(bytes: Bytes): Entries {
  const count = bytes.starts.length - 1
  return {
    count,
    size: bytes.starts[count] ?? 0,
    page: (selection, offset, limit) => page(bytes, slice(selection, offset, limit)),
  }
}

/**
 * Where each entry ends in the JSON of a list of them. A quote within a text has a backslash before it, so `{"` and a letter
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

/** The bytes of some entries in a row that stand in one block. */
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
  // The last comma is left out.
  if (total > 0) {
    const last = parts.pop() ?? head
    parts.push(last.subarray(0, last.length - 1))
  }
  parts.push(Buffer.from(`],"count":${total}}`))
  return Buffer.concat(parts)
}
