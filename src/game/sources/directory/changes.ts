import { readInside, versionAt } from './folder.ts'

/** Resolution of file times in milliseconds: a file changed more recently may change again with the same time (2 s on FAT). */
const timeResolutionMs = 2_000

/** Reads a path in the folder, and caches the value until the path changes. */
export type ChangeReader<T> = () => Promise<T | undefined>

/**
 * @param read reads and parses the path; called only if its times, size or inode have changed
 * @returns a function that returns undefined if the path does not exist, and rejects with the error of `read`
 */
export function readOnChange<T>(folder: string, path: string, read: () => Promise<T | undefined>): ChangeReader<T> {
  let last: { readonly id: string; readonly value: T | undefined } | undefined
  return async () => {
    // Determined before reading, so that a change during the read is detected the next time.
    const version = await versionAt(folder, path)
    if (last !== undefined && last.id === version?.id) return last.value
    last = undefined
    if (version === undefined) return undefined
    const value = await read()
    if (Math.abs(Date.now() - version.changedAt) > timeResolutionMs) last = { id: version.id, value }
    return value
  }
}

/**
 * Reads and parses a small file in the folder. Returns the same object until the content changes, even if the file is replaced.
 * @param maxBytes a larger file causes a SourceError `too_large`
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
