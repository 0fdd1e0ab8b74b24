import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FileSizeError, readFileUpTo, readFileUpToSync, readTextIfExists } from '../../src/util/files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const readers = { readFileUpTo, readFileUpToSync: async (path: string, maxBytes: number) => readFileUpToSync(path, maxBytes) }

describe.each(Object.entries(readers))('%s()', (_, read) => {
  it.each([0, 1, 65_537, 3_000_000])('reads a file of %i bytes, and no larger one', async (size) => {
    const path = join(folder, 'file')
    const bytes = Buffer.alloc(size, 'content ')
    writeFileSync(path, bytes)
    expect((await read(path, size)).equals(bytes)).toBe(true)
    expect((await read(path, size + 1)).equals(bytes)).toBe(true)
    if (size === 0) return
    const error = new FileSizeError(path, size, size - 1)
    expect(error.message).toBe(`file has ${size} bytes; the maximum is ${size - 1}`)
    await expect(read(path, size - 1)).rejects.toThrow(error)
  })

  it('does not read a file that is larger than the memory', async () => {
    const path = join(folder, 'sparse')
    writeFileSync(path, '')
    truncateSync(path, 2 ** 40)
    await expect(read(path, 1_000)).rejects.toThrow('sparse has 1099511627776 bytes; the maximum is 1000')
  })

  it('reads a device up to the limit', async () => {
    await expect(read('/dev/zero', 1_000)).rejects.toThrow('zero has 1001 bytes; the maximum is 1000')
    expect(await read('/dev/null', 1_000)).toHaveLength(0)
  })

  it('throws the error of the system', async () => {
    await expect(read(join(folder, 'none'), 1)).rejects.toMatchObject({ code: 'ENOENT' })
    // A folder is never too large: its size is not that of a text.
    await expect(read(folder, 1)).rejects.toMatchObject({ code: 'EISDIR' })
  })
})

it('names the folder that was given in place of a file', async () => {
  await expect(readFileUpTo(folder, 1)).rejects.toThrow(`EISDIR: illegal operation on a directory, read '${folder}'`)
})

it.skipIf(process.platform === 'win32')('does not wait for ever for the writer of a pipe', async () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  expect(() => readFileUpToSync(path, 1_000, 40)).toThrow('it is a pipe, to which nothing was written in 0.04 s')
  // The shell opens the pipe once it is read.
  // wait: it pauses for longer than it would be waited for without a writer.
  const write = () => spawn('sh', ['-c', '{ sleep 0.2; echo one; sleep 0.2; echo two; } > "$0"', path])
  let writer = write()
  const read = () => {
    // If the reader left just when it opened the pipe, it ends at its first line.
    if (writer.exitCode !== null || writer.signalCode !== null) writer = write()
    expect(readFileUpToSync(path, 1_000, 100).toString()).toBe('one\ntwo\n')
  }
  await vi.waitFor(read, 60_000)
  await new Promise((resolve) => writer.on('close', resolve))
})

it('the text of a file that does not exist is undefined, but not that of a larger one', async () => {
  const path = join(folder, 'text')
  expect(await readTextIfExists(path, 3)).toBeUndefined()
  writeFileSync(path, 'äb')
  expect(await readTextIfExists(path, 3)).toBe('äb')
  writeFileSync(path, '\ufeffb')
  expect(await readTextIfExists(path, 4)).toBe('b')
  await expect(readTextIfExists(path, 3)).rejects.toThrow(FileSizeError)
})

it('does not wait for the other end of a pipe in place of a text file', async () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  await expect(readTextIfExists(path, 3)).rejects.toThrow('pipe is not a regular file')
  await expect(readTextIfExists(folder, 100_000)).rejects.toMatchObject({ code: 'EISDIR' })
})
