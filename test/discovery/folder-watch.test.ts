import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createFolderWatch } from '../../src/discovery/folder-watch.ts'
import { temporaryFolder } from '../helpers/discovering-service.ts'
import { until } from '../helpers/until.ts'

it('watches a folder that is created later, and one that replaces it', async () => {
  const parent = temporaryFolder()
  const folder = join(parent, 'conf')
  let events = 0
  const watch = createFolderWatch([folder], () => events++)
  onTestFinished(() => watch.close())
  await watch.refresh()
  async function isWatched(): Promise<boolean> {
    await watch.refresh()
    events = 0
    writeFileSync(join(folder, 'a'), '')
    await until(() => events > 0)
    return true
  }
  mkdirSync(folder)
  expect(await isWatched()).toBe(true)
  mkdirSync(join(parent, 'next'))
  renameSync(folder, join(parent, 'old'))
  renameSync(join(parent, 'next'), folder)
  expect(await isWatched()).toBe(true)
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  expect(await isWatched()).toBe(true)
})
