import { readSync, writeSync } from 'node:fs'

// A file that a process shares with its parent, which finds there what the process did last even if that never ends.

/** Its file descriptor in the child process. */
const childFile = 4
/** Before the first input. */
export const none = 2 ** 32 - 1

/** Writes the number of the input that is tried next. @param file file descriptor */
export function writeProgress(number: number, file = childFile): void {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  writeSync(file, bytes, 0, bytes.length, 0)
}

/** @param file file descriptor */
export function readProgress(file: number): number {
  const bytes = Buffer.alloc(4)
  readSync(file, bytes, 0, bytes.length, 0)
  return bytes.readUInt32LE()
}
