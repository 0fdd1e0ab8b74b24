import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { acquireLock, holdLock } from '../../src/util/file-lock.ts'
import { until } from '../helpers/until.ts'

it('is renewed although another lock in the same folder is taken and released meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
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
