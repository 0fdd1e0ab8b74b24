import { type Selection, slice } from './selection.ts'

/** The entries of a database as the bytes that replies are made of: serialised once, when the snapshot is loaded. */
export interface Entries {
  readonly count: number
  /** Size of all entries in bytes. */
  readonly size: number
  /** The entry page envelope of a part of a selection. */
  page(selection: Selection, offset: number, limit: number): Buffer
}

const head = Buffer.from('{"results":[')
/** Entries that are turned into bytes at once: a call for each of a million takes longer than the work itself. */
const batch = 256

/** Turns entries into bytes, one after the other. */
export function entryWriter(): { add(entry: unknown): void; finish(): Entries } {
  const chunks: Buffer[] = []
  let texts: string[] = []
  /** Where each entry starts; behind each stands a comma. */
  const starts = [0]
  let end = 0

  function flush(): void {
    if (texts.length === 0) return
    const joined = `${texts.join(',')},`
    const bytes = Buffer.from(joined)
    // As many bytes as UTF-16 units: plain ASCII, as most entries are.
    const ascii = bytes.length === joined.length
    for (const text of texts) {
      end += (ascii ? text.length : Buffer.byteLength(text)) + 1
      starts.push(end)
    }
    chunks.push(bytes)
    texts = []
  }

  return {
    add(entry) {
      if (texts.push(JSON.stringify(entry)) === batch) flush()
    },
    finish() {
      flush()
      const bytes = Buffer.concat(chunks)
      const places = new Uint32Array(starts)
      return {
        count: starts.length - 1,
        size: end,
        page: (selection, offset, limit) => page(bytes, places, slice(selection, offset, limit)),
      }
    },
  }
}

function page(bytes: Buffer, starts: Uint32Array, { from, total, ids }: Selection): Buffer {
  const parts: Buffer[] = [head]
  if (ids === undefined) parts.push(bytes.subarray(starts[from], starts[from + total]))
  else for (const id of ids) parts.push(bytes.subarray(starts[id], starts[id + 1]))
  // The last comma is left out.
  if (total > 0) {
    const last = parts.pop() ?? head
    parts.push(last.subarray(0, last.length - 1))
  }
  parts.push(Buffer.from(`],"count":${total}}`))
  return Buffer.concat(parts)
}
