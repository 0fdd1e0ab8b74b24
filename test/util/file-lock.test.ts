import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { acquireLock, holdLock, withLock } from '../../src/util/file-lock.ts'
import { ageLocks } from '../helpers/age-locks.ts'
import { until } from '../helpers/until.ts'

const stale = 10_000
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('a lock is renewed although another lock in the same folder is taken and released meanwhile', async () => {
  const lost: string[] = []
  const [held, short] = [join(folder, 'held.lock'), join(folder, 'short.lock')]
  const release = await holdLock(held, (reason) => lost.push(reason))
  const begun = statSync(held).mtimeMs
  for (let turn = 0; turn < 2; turn++) await (await acquireLock(short, { stale }))()
  await until(() => statSync(held).mtimeMs > begun)
  await expect(acquireLock(held, { stale })).rejects.toMatchObject({ code: 'ELOCKED' })
  await release()
  expect([lost, readdirSync(folder)]).toEqual([[], []])
})

it('a lock is taken from a process that was killed before the clock was set back by seconds', async () => {
  const path = join(folder, '.lock')
  mkdirSync(path)
  // With the time of day, which must not reach that of the lock.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  ageLocks(folder, -2_500)
  onTestFinished(() => void vi.useRealTimers())
  let isOver = false
  const taking = holdLock(path, () => {}).finally(() => (isOver = true))
  while (!isOver) {
    await nextTurn()
    vi.advanceTimersByTime(100)
  }
  await (await taking)()
})

describe('a lock for one action', () => {
  const path = () => join(folder, '.runs.lock')

  it('lets the actions run one after the other', async () => {
    let running = 0
    let max = 0
    const act = () =>
      withLock(path(), async () => {
        max = Math.max(max, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
      })
    await Promise.all(Array.from({ length: 8 }, act))
    expect(max).toBe(1)
    expect(readdirSync(folder)).toEqual([])
  })

  it('is taken from a process that was killed', async () => {
    mkdirSync(path())
    ageLocks(folder, 6_000)
    expect(await withLock(path(), async () => 'done')).toBe('done')
  })

  it('is released after an error, and if it was removed', async () => {
    await expect(withLock(path(), () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    await withLock(path(), async () => rmdirSync(path()))
    expect(readdirSync(folder)).toEqual([])
  })
})
