import { readInside, versionAt } from './folder.ts'

/** A file that was written so many milliseconds ago may be written again without getting another time: FAT counts in 2 s. */
const settleMs = 2_000

/** Reads what is at a path of the folder, and keeps it until it changes. */
export type ChangeReader<T> = () => Promise<T | undefined>

/**
 * @param read reads and parses what is there; called only if it has changed since the last call, by times, size and inode
 * @returns undefined where nothing is there; rejects with the errors of `read`
 */
export function readOnChange<T>(folder: string, path: string, read: () => Promise<T | undefined>): ChangeReader<T> {
  let last: { readonly id: string; readonly value: T | undefined } | undefined
  return async () => {
    // Taken before the content is read: a change in between shows as another version the next time.
    const version = await versionAt(folder, path)
    if (last !== undefined && last.id === version?.id) return last.value
    last = undefined
    if (version === undefined) return undefined
    const value = await read()
    if (Math.abs(Date.now() - version.changedAt) > settleMs) last = { id: version.id, value }
    return value
  }
}

/**
 * A small file of the folder, parsed. The same object is returned until the content changes, whatever happens to the file.
 * @param maxBytes a larger file is a SourceError `too_large`
 */
export function parseOnChange<T>(folder: string, path: string, maxBytes: number, parse: (bytes: Buffer) => T): ChangeReader<T> {
  let last: { readonly bytes: Buffer; readonly value: T } | undefined
  return readOnChange(folder, path, async () => {
    const bytes = await readInside(folder, path, maxBytes)
    if (bytes === undefined) return undefined
    if (last === undefined || !last.bytes.equals(bytes)) last = { bytes, value: parse(bytes) }
    return last.value
  })
}
