import { readSync, writeSync } from 'node:fs'

// A file that a process shares with its parent, which finds there what the process did last even if that never ends.

/** Its file descriptor in the child process. */
const childFile = 4
/** Number of the first of the valid examples, which are tried before the inputs. */
export const firstExample = 2 ** 31
/** Before anything is tried. */
export const none = 2 ** 32 - 1

let calls = 0

/** Writes the number of the input that is tried next. @param file file descriptor */
export function writeProgress(number: number, file = childFile): void {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(number)
  bytes.writeUInt32LE(++calls % none, 4)
  writeSync(file, bytes, 0, bytes.length, 0)
}

/**
 * @param file file descriptor
 * @returns the number of the input, and that of all that the process has tried
 */
export function readProgress(file: number): { readonly number: number; readonly calls: number } {
  const bytes = Buffer.alloc(8)
  readSync(file, bytes, 0, bytes.length, 0)
  return { number: bytes.readUInt32LE(), calls: bytes.readUInt32LE(4) }
}
