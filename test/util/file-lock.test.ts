import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { acquireLock, holdLock, withLock } from '../../src/util/file-lock.ts'
import { ageLocks } from '../helpers/age-locks.ts'
import { until } from '../helpers/until.ts'

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
  for (let turn = 0; turn < 2; turn++) await (await acquireLock(short, {}))()
  await until(() => statSync(held).mtimeMs > begun)
  await expect(acquireLock(held, {})).rejects.toMatchObject({ code: 'ELOCKED' })
  await release()
  expect([lost, readdirSync(folder)]).toEqual([[], []])
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
