import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { chmod, type FileHandle, open, readlink, realpath, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import type { Options } from 'write-file-atomic'
import { load } from './load.ts'
import { readBody } from './read-body.ts'

/** A file is larger than its reader accepts. */
export class FileSizeError extends Error {
  override readonly name = 'FileSizeError'
  /** Without the name of the file. */
  readonly reason: string

  constructor(path: string, size: number, maxBytes: number) {
    const has = `has ${size} bytes; the maximum is ${maxBytes}`
    super(`${basename(path)} ${has}`)
    this.reason = `it ${has}`
  }
}

const maxChunk = 1024 * 1024

/** Bytes of a regular file. That of a folder says nothing about its content: reading it fails. */
const sizeOf = (stats: Stats): number => (stats.isFile() ? stats.size : 0)

/**
 * Writes a file by a temporary one beside it, flushed to disk and renamed: it is never half written. The library is loaded when it is first used.
 * @throws Error of the system
 */
export async function writeAtomic(path: string, data: string | Buffer, options: Options = {}): Promise<void> {
  // Not by import(): Node.js 20 never again loads a module that it once could not open, such as without a free file descriptor.
  await load<typeof import('write-file-atomic')>('write-file-atomic')(path, '', {
    ...options,
    // The library would rename a file of which only a part fitted on the disk.
    async tmpfileCreated(temporary) {
      await chmod(temporary, (await stat(temporary)).mode | 0o200)
      await writeFile(temporary, data)
    },
  })
}

/** Not a stream, which would have to close the file. */
async function* chunksOf(file: FileHandle, length: number): AsyncGenerator<Buffer> {
  for (let isEnd = false; !isEnd; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length)
    isEnd = bytesRead === 0
    yield buffer.subarray(0, bytesRead)
  }
}

/** Adds the path to an error of the system, as that of opening a file has it. */
const nameFile = (path: string) => (error: Error) => {
  error.message += ` '${path}'`
  throw error
}

/**
 * Reads the rest of an open file. A larger one is not read; a device, pipe or growing file up to the limit.
 * @param path for messages
 * @throws FileSizeError, or Error of the system
 */
export async function readUpTo(file: FileHandle, path: string, maxBytes: number): Promise<Buffer> {
  const size = sizeOf(await file.stat())
  const chunks = chunksOf(file, Math.min(size || maxChunk / 16, maxChunk) + 1)
  const bytes = size > maxBytes ? undefined : await readBody(chunks, maxBytes).catch(nameFile(path))
  if (bytes === undefined) throw new FileSizeError(path, Math.max(size, maxBytes + 1), maxBytes)
  return bytes
}

/** The text in UTF-8 without a byte order mark, which programs of Windows write and neither JSON nor the library for YAML accepts. */
export const decodeText = (bytes: Buffer): string => new TextDecoder().decode(bytes)

/**
 * Reads a file of limited size; waits for the writer of a pipe.
 * @throws FileSizeError, or Error of the system
 */
export async function readFileUpTo(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path)
  try {
    return await readUpTo(file, path, maxBytes)
  } finally {
    await file.close()
  }
}

/** Milliseconds to wait for the writer of a pipe, and between two attempts. */
const [maxPipeWaitMs, pipeStepMs] = [5_000, 20]

/** Reads what is there; undefined if a pipe has nothing now. */
function readAvailable(file: number, bytes: Buffer, length: number): number | undefined {
  try {
    return readSync(file, bytes, length, bytes.length - length, null)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}

/** Like {@link readFileUpTo}, but waits for the writer of a pipe. Blocks. @throws Error if nothing is written to a pipe */
export function readFileUpToSync(path: string, maxBytes: number, pipeWaitMs = maxPipeWaitMs): Buffer {
  // Opening a pipe without a writer would block for ever, and no signal would be handled.
  const isPipe = statSync(path).isFIFO()
  const file = openSync(path, isPipe ? constants.O_RDONLY | constants.O_NONBLOCK : 'r')
  try {
    const size = sizeOf(fstatSync(file))
    const bytes = Buffer.alloc(size > maxBytes ? 0 : maxBytes + 1)
    let length = 0
    let waitedMs = 0
    while (length < bytes.length) {
      const read = readAvailable(file, bytes, length)
      length += read ?? 0
      if (read) continue
      if (!isPipe || (read === 0 && length > 0)) break
      // Without a writer it seems to have ended. One that has a writer may take its time, for example to ask for a password.
      if (read === 0) waitedMs += pipeStepMs
      if (waitedMs > pipeWaitMs) throw new Error(`it is a pipe, to which nothing was written in ${pipeWaitMs / 1_000} s`)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pipeStepMs)
    }
    if (length > maxBytes || size > maxBytes) throw new FileSizeError(path, Math.max(size, length), maxBytes)
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/**
 * Reads a text file of limited size; undefined if it does not exist.
 * @throws FileSizeError, or Error if it is not a regular file or cannot be read for another reason
 */
export async function readTextIfExists(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    const stats = await stat(path)
    // To open a pipe would wait for its other end, possibly for ever. Reading a folder fails.
    if (!stats.isFile() && !stats.isDirectory()) throw new Error(`${basename(path)} is not a regular file`)
    return decodeText(await readFileUpTo(path, maxBytes))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Identifies the version of a file without its content: changes if it is written or replaced, or its permissions change. */
export const fileVersion = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join()

/**
 * Resolves the symbolic links of a path, even if their target does not exist yet.
 * @throws Error of the system, for example of links that form a loop
 */
export async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const target = await readlink(path).catch(() => undefined)
  return target === undefined ? path : resolveLinks(resolve(dirname(path), target))
}
