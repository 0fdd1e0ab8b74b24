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
const comma = 0x2c

/** @param most number of entries that will be added at the most */
export function entryWriter(most: number): { add(entry: unknown): void; finish(): Entries } {
  let bytes = Buffer.allocUnsafe(Math.max(1024, most * 64))
  /** Where each entry starts; behind each stands a comma. */
  const starts = new Uint32Array(most + 1)
  let [count, end] = [0, 0]
  return {
    add(entry) {
      const text = JSON.stringify(entry)
      // 3 bytes are the most that a UTF-16 unit takes in UTF-8.
      if (bytes.length - end < text.length * 3 + 1) {
        const larger = Buffer.allocUnsafe(2 * bytes.length + text.length * 3)
        bytes.copy(larger, 0, 0, end)
        bytes = larger
      }
      end += bytes.write(text, end)
      bytes[end++] = comma
      starts[++count] = end
    },
    finish() {
      // A copy of the right size: the larger half of a doubled buffer is not kept for the life of the snapshot.
      const kept = Buffer.from(bytes.subarray(0, end))
      return { count, size: end, page: (selection, offset, limit) => page(kept, starts, slice(selection, offset, limit)) }
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
