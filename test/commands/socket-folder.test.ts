import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { removeStaleSocketFolders } from '../../src/commands/socket-folder.ts'
import { temporaryFolder } from '../helpers/discovering-service.ts'

const later = () => Date.now() + 120_000
const socketIn = (folder: string) => join(folder, 'primary.sock')

/** A folder whose socket belongs to a process that was killed. */
async function createStale(parent: string): Promise<string> {
  const folder = mkdtempSync(join(parent, 'tickwarden-'))
  const program = `require('node:net').createServer().listen(${JSON.stringify(socketIn(folder))}, () => console.log('listens'))`
  const child = spawn(process.execPath, ['--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(existsSync(socketIn(folder))).toBe(true)
  return folder
}

describe('removeStaleSocketFolders', () => {
  it('removes the folder of a process that was killed', async () => {
    const parent = temporaryFolder()
    const folder = await createStale(parent)
    await removeStaleSocketFolders(parent, later())
    expect(existsSync(folder)).toBe(false)
  })

  it('keeps the folder of a process that listens, or that may be about to', async () => {
    const parent = temporaryFolder()
    const used = mkdtempSync(join(parent, 'tickwarden-'))
    const listener = createServer().listen(socketIn(used))
    await once(listener, 'listening')
    onTestFinished(() => void listener.close())
    const empty = mkdtempSync(join(parent, 'tickwarden-'))
    await removeStaleSocketFolders(parent, later())
    expect([used, socketIn(used), empty].map(existsSync)).toEqual([true, true, true])
    const recent = await createStale(parent)
    await removeStaleSocketFolders(parent)
    expect(existsSync(recent)).toBe(true)
  })

  it('follows no symbolic link, and keeps what is not the folder of a socket', async () => {
    const parent = temporaryFolder()
    const target = await createStale(temporaryFolder())
    symlinkSync(target, join(parent, 'tickwarden-aaaaaa'))
    const withLink = mkdtempSync(join(parent, 'tickwarden-'))
    symlinkSync(socketIn(target), socketIn(withLink))
    const withFile = mkdtempSync(join(parent, 'tickwarden-'))
    writeFileSync(socketIn(withFile), 'a file')
    const withMore = await createStale(parent)
    writeFileSync(join(withMore, 'more'), '')
    const open = await createStale(parent)
    chmodSync(open, 0o777)
    const otherName = join(parent, 'tickwarden-other-name')
    renameSync(await createStale(parent), otherName)
    mkdirSync(join(parent, 'tickwarden-bbbbbb'))
    await removeStaleSocketFolders(parent, later())
    for (const folder of [target, withLink, withFile, withMore, open, otherName])
      expect(existsSync(socketIn(folder)), folder).toBe(true)
  })

  it.skipIf(process.getuid?.() !== 0)('keeps the folder of another user', async () => {
    const parent = temporaryFolder()
    const [folder, socketOnly] = [await createStale(parent), await createStale(parent)]
    const otherUserId = 65_534
    chownSync(folder, otherUserId, otherUserId)
    chownSync(socketIn(socketOnly), otherUserId, otherUserId)
    await removeStaleSocketFolders(parent, later())
    expect([folder, socketOnly].map((one) => existsSync(socketIn(one)))).toEqual([true, true])
  })

  it('ignores a parent that does not exist', async () => {
    await removeStaleSocketFolders(join(temporaryFolder(), 'missing'))
  })
})
