import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stateOf } from '../../src/live/state.ts'
import { openNotifier } from '../../src/notify/open.ts'
import { readNotify } from '../../src/notify/settings.ts'
import { statusEmbeds } from '../../src/notify/status-message.ts'
import { silentLog } from '../../src/util/log.ts'
import { parseTree } from '../../src/util/yaml.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { until } from '../helpers/until.ts'

const status = (playersOnline: number) => ({
  status: { playersOnline, playersMax: 20, players: { complete: true, players: [{ name: 'Ann_1' }] } },
})

test('one message is created, edited at most every 15 s, kept across restarts, and created again when it was deleted', async () => {
  let created = 0
  const deleted = new Set<string>()
  const receiver = await startReceiver((response, { method, path }) => {
    const id = /\/messages\/(\d+)/.exec(path)?.[1]
    if (method === 'POST') response.writeHead(200).end(JSON.stringify({ id: String(100 + ++created) }))
    else response.writeHead(deleted.has(id ?? '') ? 404 : 200).end('{}')
  })
  const folder = mkdtempSync(join(tmpdir(), 'status-message-'))
  const yaml = `{ allowPrivate: true, channels: [{ type: discord, name: list, url: "${receiver.url}/hook?thread_id=7", statusMessage: true, events: [] }] }`
  const settings = readNotify(parseTree(yaml, '', []) ?? null, '', [])
  if (settings === undefined) throw new Error('not valid')
  async function start() {
    const clock = manualClock()
    const fleet = fakeFleet({ survival: status(3) }, clock)
    const details = async () => ({
      peakToday: 5,
      uptime: 0.998,
      joinedAt: () => 1_795_269_600_000,
      nextMaintenance: { from: 1_795_279_600_000, reason: 'backup' },
    })
    const notifier = await openNotifier({
      settings: settings!,
      fleet,
      clock,
      log: silentLog,
      dataDir: folder,
      maintenanceOf: () => null,
      detailsOf: details,
    })
    let isClosed = false
    const close = async () => {
      if (!isClosed) await notifier.close()
      isClosed = true
      fleet.close()
    }
    onTestFinished(close)
    const poll = async (players: number) => {
      fleet.scripts.survival = status(players)
      await clock.advance(5_000)
      await fleet.pollAll()
    }
    return { poll, close, clock }
  }
  const calls = () => receiver.requests.map(({ method, path }) => `${method} ${path}`)
  const pollUntil = async (one: Awaited<ReturnType<typeof start>>, count: number, change = true) => {
    let players = 3
    await until(async () => {
      await one.poll(change ? players++ : 3)
      return receiver.requests.length >= count
    })
  }
  const first = await start()
  await pollUntil(first, 1)
  const { embeds, allowed_mentions } = receiver.requests[0]!.json
  expect(allowed_mentions).toEqual({ parse: [] })
  expect(embeds).toHaveLength(1)
  expect(embeds[0].title).toBe('🟢 survival')
  for (const part of [
    'Ann\\_1 (joined <t:1795269600:R>)',
    'Peak today: 5',
    'Uptime, 30 days: 99.80 %',
    'Next maintenance: <t:1795279600:R> backup',
  ])
    expect(embeds[0].description).toContain(part)
  // The status is stored before the next edit.
  await pollUntil(first, 2)
  expect(calls()).toEqual(['POST /hook?thread_id=7&wait=true', 'PATCH /hook/messages/101?thread_id=7'])
  await first.close()
  const second = await start()
  const before = receiver.requests.length
  await pollUntil(second, before + 1)
  expect(calls().at(-1)).toBe('PATCH /hook/messages/101?thread_id=7')
  deleted.add('101')
  await pollUntil(second, before + 3)
  expect(calls().slice(-2)).toEqual(['PATCH /hook/messages/101?thread_id=7', 'POST /hook?thread_id=7&wait=true'])
})

test('many servers and long names stay within the limits of Discord', async () => {
  const state = stateOf({ server: '', at: 0, fields: {}, sources: [], polls: {} })
  const players = Array.from({ length: 500 }, (_, index) => ({ ID: '', NAME: `*player*_${index}` }))
  const details = async () => ({ peakToday: 1, uptime: 1, joinedAt: () => 0 })
  const list = (count: number, group?: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ name: `${index} ${'_'.repeat(300)}`, group: group?.(index) },
      state: { ...state, up: true, online: 500, max: 500, players, tickRate: 20 },
    }))
  for (const servers of [list(1), list(10), list(11), list(2_000), list(300, (index) => `group ${index}`)]) {
    const embeds = await statusEmbeds(servers, details)
    expect(embeds.length).toBeLessThanOrEqual(10)
    expect(embeds.reduce((sum, { title, description }) => sum + title.length + description.length, 0)).toBeLessThanOrEqual(6_000)
    for (const { title, description } of embeds)
      expect(title.length <= 256 && description.length <= 4_096 && description.length > 0).toBe(true)
  }
})
