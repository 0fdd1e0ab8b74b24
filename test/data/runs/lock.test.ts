import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { DataDirError } from '../../../src/data/runs/folder.ts'
import { isLocked, takeLock } from '../../../src/data/runs/lock.ts'
import { ageLocks } from '../../helpers/age-locks.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const path = (name = 'projects') => join(folder, `.${name}.lock`)

describe('the lock of a script', () => {
  it('is held by one run at a time', async () => {
    const lock = await takeLock(folder, 'projects')
    expect(await isLocked(folder, 'projects')).toBe(true)
    expect(await takeLock(folder, 'projects')).toBeUndefined()
    await lock?.release()
    expect(await isLocked(folder, 'projects')).toBe(false)
    const next = await takeLock(folder, 'projects')
    expect(next).toBeDefined()
    await next?.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('does not concern other scripts', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `script-${index}`)
    const locks = await Promise.all(names.map((name) => takeLock(folder, name)))
    expect(locks).not.toContain(undefined)
    await Promise.all(locks.map((lock) => lock?.release()))
    expect(readdirSync(folder)).toEqual([])
  })

  it('is free a minute after its holder was killed', async () => {
    mkdirSync(path())
    ageLocks(folder, 50_000)
    expect(await isLocked(folder, 'projects')).toBe(true)
    expect(await takeLock(folder, 'projects')).toBeUndefined()
    ageLocks(folder, 61_000)
    expect(await isLocked(folder, 'projects')).toBe(false)
    const lock = await takeLock(folder, 'projects')
    expect(lock).toBeDefined()
    await lock?.release()
  })

  it('replaces that of an earlier version, which is a file, once it is as old', async () => {
    writeFileSync(path(), '{"pid":1}')
    expect(await takeLock(folder, 'projects')).toBeUndefined()
    ageLocks(folder, 61_000)
    const lock = await takeLock(folder, 'projects')
    expect(statSync(path()).isDirectory()).toBe(true)
    await lock?.release()
  })

  it.each([false, true])(
    'that is an hour in the future, after the clock was set back, is held if it is renewed: %s',
    async (isRenewed) => {
      mkdirSync(path())
      ageLocks(folder, -3_600_000)
      expect(await isLocked(folder, 'projects')).toBe(false)
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      let lock: Awaited<ReturnType<typeof takeLock>> | 'pending' = 'pending'
      void takeLock(folder, 'projects').then((taken) => (lock = taken))
      for (let seconds = 1; lock === 'pending'; seconds++) {
        await nextTurn()
        vi.advanceTimersByTime(1_000)
        if (isRenewed && seconds % 10 === 0) ageLocks(folder, 0)
      }
      if (isRenewed) expect(lock).toBeUndefined()
      else await (lock as Awaited<ReturnType<typeof takeLock>>)!.release()
    },
  )

  it('is lost if another process has taken it, and released without harm to that one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const lock = (await takeLock(folder, 'projects'))!
    rmdirSync(path())
    mkdirSync(path())
    utimesSync(path(), new Date(), new Date(Date.now() + 1_000))
    // Its holder updates it every ten seconds.
    vi.advanceTimersByTime(10_000)
    if (!lock.lost.aborted) await once(lock.lost, 'abort')
    await lock.release()
    expect(readdirSync(folder)).toEqual(['.projects.lock'])
  })

  it('is released without an error if the folder is gone, where it cannot be taken', async () => {
    const lock = await takeLock(folder, 'projects')
    rmSync(folder, { recursive: true })
    await lock?.release()
    await expect(takeLock(folder, 'projects')).rejects.toThrow(DataDirError)
  })
})
