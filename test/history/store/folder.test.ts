import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { claimFolder } from '../../../src/history/store/folder.ts'
import type { Log } from '../../../src/util/log.ts'
import { collectLog } from '../../helpers/log-lines.ts'
import { buildTestApp } from '../../helpers/test-app.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const lock = async (folder: string, log: Log, onLost: () => void) =>
  (await claimFolder({ historyDir: folder, dataDir: undefined }, log, onLost))?.release

it('is held by one process at a time; the other one logs that', async () => {
  const folder = newFolder()
  const log = collectLog()
  const release = await lock(folder, log, () => {})
  expect(await lock(folder, log, () => {})).toBeUndefined()
  expect(log.lines).toEqual([
    `warn: ${folder} is used by another process, so this one keeps the history in memory only; set HISTORY_DIR to another folder`,
  ])
  await release?.()
  const again = await lock(folder, log, () => {})
  expect(again).toBeDefined()
  await again?.()
  expect(readdirSync(folder)).toEqual([])
})

it('is not taken in place of a file; the log says what to do', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  const log = collectLog()
  expect(await lock(file, log, () => {})).toBeUndefined()
  expect(log.lines).toEqual([
    `warn: ${file} cannot be written to (it is a file), so the history is kept in memory only and lost when the service stops; set HISTORY_DIR to a folder that this user may write to`,
  ])
})

it('is that of the file, also under another name', async () => {
  const [folder, other] = [newFolder(), newFolder()]
  symlinkSync(join(folder, 'history.db'), join(other, 'history.db'))
  writeFileSync(join(folder, 'history.db'), '')
  const release = await lock(folder, collectLog(), () => {})
  expect(await lock(other, collectLog(), () => {})).toBeUndefined()
  await release?.()
})

it('tells when another process has taken it', async () => {
  const folder = newFolder()
  const log = collectLog()
  let isLost = false
  const release = await lock(folder, log, () => {
    isLost = true
  })
  // As after a time in which this process was suspended.
  utimesSync(join(folder, 'history.db.lock'), 1, 1)
  await expect.poll(() => isLost).toBe(true)
  expect(log.lines).toEqual([expect.stringContaining('so this one writes no more')])
  await release?.()
})

it('of a process that was killed is taken over', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, '.lock'))
  const log = collectLog()
  const release = await lock(folder, log, () => {})
  expect(release).toBeDefined()
  expect(log.lines).toEqual([])
  await release?.()
})

it('keeps a second service on the same folder from writing', async () => {
  const folder = newFolder()
  const scripts = { Server: { status: { playersOnline: 3 } } }
  const first = await buildTestApp({ scripts, env: { HISTORY_DIR: folder } })
  const second = await buildTestApp({ scripts: { Other: scripts.Server }, env: { HISTORY_DIR: folder } })
  for (const { clock, app } of [second, first]) {
    await clock.advance(60_000)
    await app.close()
  }
  // One file per server.
  expect(readdirSync(folder)).toHaveLength(1)
})
