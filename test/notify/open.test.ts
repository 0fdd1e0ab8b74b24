import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../src/game/errors.ts'
import { openNotifier } from '../../src/notify/open.ts'
import { readNotify } from '../../src/notify/settings.ts'
import { systemClock } from '../../src/util/clock.ts'
import { parseTree } from '../../src/util/yaml.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { until } from '../helpers/until.ts'

const lost = 'notifications that wait are lost when the service stops'

let dataDir: string
let folder: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tickwarden-notify-'))
  folder = join(dataDir, 'notify')
})
afterEach(() => rmSync(dataDir, { recursive: true }))

/** Opens the notifications of a service with one channel, of which a poll tells that the server is down. */
async function open(dataDir: string | undefined) {
  const receiver = await startReceiver()
  const channel = `{ type: webhook, name: ops, url: "${receiver.url}", after: 1 }`
  const settings = readNotify(
    parseTree(`{ allowPrivate: true, restartGrace: 0s, channels: [${channel}] }`, '', []) ?? null,
    '',
    [],
  )
  if (settings === undefined) throw new Error('not valid')
  const lines: unknown[] = []
  const through = (...parts: readonly unknown[]) => void lines.push(parts.length === 1 ? parts[0] : parts)
  const log = { debug() {}, info() {}, warn: through, error: through }
  const fleet = fakeFleet({ survival: { status: { playersOnline: 3, playersMax: 20 } } }, systemClock)
  onTestFinished(() => fleet.close())
  const notifier = await openNotifier({
    settings,
    fleet,
    clock: systemClock,
    log,
    stateFolder: dataDir,
    maintenanceOf: () => null,
  })
  onTestFinished(() => notifier.close())
  const tell = async () => {
    await fleet.pollAll()
    fleet.scripts.survival = { status: new SourceError('refused', 'connection refused') }
    await until(async () => {
      await fleet.pollAll()
      return receiver.accepted.length > 0
    })
  }
  return { notifier, lines, tell }
}

it('sends without a data folder too, and warns', async () => {
  const { lines, tell, notifier } = await open(undefined)
  expect(lines).toEqual([`No data folder is set, so ${lost}; set HISTORY_DIR to keep them.`])
  await tell()
  await notifier.close()
})

it('sends without a usable folder too, and warns', async () => {
  writeFileSync(folder, '')
  const { lines, tell } = await open(dataDir)
  expect(lines).toEqual([[{ folder, reason: 'EEXIST' }, `${folder} cannot be used (EEXIST), so ${lost}`]])
  await tell()
})

it('keeps notifications in a folder that only its user may read, and says nothing', async () => {
  const { lines, tell } = await open(dataDir)
  await tell()
  expect(lines).toEqual([])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(folder)).toContain('ops.json')
})

it('removes what a process was writing when it was killed, and nothing else', async () => {
  mkdirSync(folder)
  for (const name of ['ops.json.123', 'ops.json.123.txt', 'ops.json.old', 'ops-json.123']) writeFileSync(join(folder, name), '')
  const { lines, notifier } = await open(dataDir)
  await notifier.close()
  expect(readdirSync(folder).toSorted()).toEqual(['ops-json.123', 'ops.json.123.txt', 'ops.json.old'])
  expect(lines).toEqual([])
})

it('does not start in the folder of another service, until that has ended', async () => {
  const first = await open(dataDir)
  await expect(open(dataDir)).rejects.toThrow(
    `${folder} is used by another process, which would send the same notifications; set another HISTORY_DIR`,
  )
  await first.notifier.close()
  const second = await open(dataDir)
  expect(second.lines).toEqual([])
})

it('reports that another process may use its folder', async () => {
  const { lines } = await open(dataDir)
  rmSync(join(folder, '.lock'), { recursive: true })
  await until(() => lines.length > 0)
  const message = `${folder}: another process may send the same notifications`
  expect(lines).toEqual([[{ folder, reason: expect.stringContaining('ENOENT') }, message]])
})
