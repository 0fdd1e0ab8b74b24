import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ChannelContext, DeliveryError } from '../../src/notify/channels/channel.ts'
import { openNotifier } from '../../src/notify/open.ts'
import type { Outbox } from '../../src/notify/outbox.ts'
import { readNotify } from '../../src/notify/settings.ts'
import { StatusMessage, type StatusMessageOptions } from '../../src/notify/status-message.ts'
import type { HttpReply } from '../../src/util/http-client.ts'
import { silentLog } from '../../src/util/log.ts'
import { parseTree } from '../../src/util/yaml.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { until } from '../helpers/until.ts'

const status = (playersOnline: number) => ({
  status: { playersOnline, playersMax: 20, players: { complete: true, players: [{ name: 'Ann_1' }] } },
})

const noDetails = { peakToday: null, uptime: null, joinedAt: () => undefined }

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
      stateFolder: folder,
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

/** A message whose requests are answered here. */
function start({ isAbout = () => true, ...more }: Partial<StatusMessageOptions> = {}) {
  const clock = manualClock()
  const log = collectLog()
  const fleet = fakeFleet({ survival: status(3), other: status(1) }, clock)
  const requests: { call: string; body: { embeds: { title: string; description: string }[]; content: string } }[] = []
  const outbox = { id: undefined as string | undefined, isSender: true }
  const replies: (string | Error)[] = []
  const message = new StatusMessage({
    ...{ settings: { name: 'list', values: { url: 'http://discord.test/hook/' } }, isAbout, fleet, clock, log },
    ...{ maintenanceOf: () => null, detailsOf: async () => noDetails },
    outbox: {
      isSender: async () => outbox.isSender,
      value: async () => outbox.id,
      async setValue(id: string) {
        outbox.id = id
      },
    } as unknown as Outbox,
    context: {
      async request({ method, url, body }) {
        requests.push({ call: `${method} ${new URL(url).pathname}`, body: JSON.parse(String(body)) })
        const reply = replies.shift() ?? '{"id":"7"}'
        if (reply instanceof Error) throw reply
        return { status: 200, headers: {}, body: Buffer.from(reply) } as unknown as HttpReply
      },
    } as ChannelContext,
    ...more,
  })
  onTestFinished(async () => {
    await message.close()
    fleet.close()
  })
  /** Polls every 5 s while the time passes: no value becomes stale. */
  const poll = async (players: number, seconds = 1) => {
    fleet.scripts.survival = status(players)
    for (let left = seconds * 1_000; left >= 0; left -= 5_000) {
      await fleet.pollAll()
      await clock.advance(Math.min(left, 5_000))
    }
  }
  return { clock, log, fleet, requests, outbox, replies, message, poll, calls: () => requests.map(({ call }) => call) }
}

test('the servers that are polled at once are shown at once, those of the channel', async () => {
  const all = start()
  await all.poll(3, 0.999)
  expect(all.requests).toEqual([])
  await all.clock.advance(1)
  expect(all.requests).toMatchObject([
    { call: 'POST /hook/', body: { content: '', embeds: [{ title: '🟢 survival' }, { title: '🟢 other' }] } },
  ])
  const one = start({ isAbout: (server, group) => server === 'other' && group === undefined })
  await one.poll(3)
  expect(one.requests).toMatchObject([{ body: { embeds: [{ title: '🟢 other' }] } }])
})

test('is edited when something has changed, 15 s after the last edit', async () => {
  const { poll, calls, requests } = start()
  await poll(3, 5)
  await poll(3, 60)
  expect(calls()).toEqual(['POST /hook/'])
  await poll(4)
  expect(calls()).toEqual(['POST /hook/', 'PATCH /hook/messages/7'])
  await poll(5, 13.999)
  await poll(6, 1)
  await poll(7, 0.001)
  expect(requests.slice(2)).toMatchObject([{ body: { embeds: [{ description: expect.stringContaining('7 / 20') }, {}] } }])
})

test('is edited once at a time', async () => {
  let answer = () => {}
  let asked = 0
  const { poll } = start({
    detailsOf: async () => {
      asked++
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return noDetails
    },
    isAbout: (server) => server === 'survival',
  })
  await poll(1)
  await poll(2, 60)
  await poll(3, 60)
  expect(asked).toBe(1)
  answer()
  await poll(4, 0)
  await poll(5, 60)
  expect(asked).toBe(2)
  answer()
})

test('is left to another replica that sends', async () => {
  const { poll, calls, outbox } = start()
  outbox.isSender = false
  await poll(3, 20)
  expect(calls()).toEqual([])
  outbox.isSender = true
  outbox.id = '31'
  await poll(3, 20)
  expect(calls()).toEqual(['PATCH /hook/messages/31'])
})

test('is edited again after another replica has edited it, whose failures are no longer its own', async () => {
  const { poll, calls, outbox, replies, message } = start()
  await poll(3, 20)
  replies.push(new DeliveryError('HTTP 500'))
  await poll(4)
  expect(message.problem).toBe('HTTP 500')
  outbox.isSender = false
  await poll(5, 60)
  expect([calls().length, message.problem]).toEqual([2, undefined])
  outbox.isSender = true
  await poll(3, 20)
  expect(calls().slice(2)).toEqual(['PATCH /hook/messages/7'])
})

test.each([undefined, 'undefined', '12/../34', ' 1', '1'.repeat(31)])('is created if what is stored is no id: %s', async (id) => {
  const { poll, calls, outbox } = start()
  outbox.id = id
  await poll(3)
  expect(calls()).toEqual(['POST /hook/'])
  expect(outbox.id).toBe('7')
})

test.each(['{}', '[]', '{"id":7}', '{"id":"x"}', 'null'])(
  'is not created again and again if the reply has no id: %s',
  async (reply) => {
    const { poll, replies, calls, message, outbox } = start()
    replies.push(reply, reply)
    await poll(3)
    expect(message.problem).toBe('the reply has no id of the message')
    await poll(4, 14.999)
    expect(calls()).toHaveLength(1)
    await poll(5, 0.001)
    expect(calls()).toHaveLength(2)
    // The pause is doubled.
    await poll(6, 29.999)
    expect(calls()).toHaveLength(2)
    await poll(7, 0.001)
    expect([calls().length, message.problem, outbox.id]).toEqual([3, undefined, '7'])
  },
)

test('a failure is logged once, and waits as long as the receiver asks', async () => {
  const { poll, replies, calls, message, log } = start()
  const failure = new DeliveryError('HTTP 429', { retryAfterMs: 100_000, status: 429 })
  replies.push(failure, failure, '{"id":"9"}', new DeliveryError('HTTP 500'))
  await poll(3)
  expect(message.problem).toBe('HTTP 429')
  await poll(4, 99.999)
  expect(calls()).toHaveLength(1)
  await poll(5, 0.001)
  expect(calls()).toHaveLength(2)
  await poll(6, 100)
  expect([calls().length, message.problem]).toEqual([3, undefined])
  await poll(7, 15)
  expect(message.problem).toBe('HTTP 500')
  await poll(8, 14.999)
  expect(calls()).toHaveLength(4)
  await poll(8, 0.001)
  expect([calls().at(-1), message.problem]).toEqual(['PATCH /hook/messages/9', undefined])
  expect(log.lines).toEqual([
    'warn: list: the status message cannot be edited (HTTP 429)',
    'warn: list: the status message cannot be edited (HTTP 500)',
  ])
})

test('an edit that failed is not taken for another message', async () => {
  const { poll, replies, calls } = start()
  await poll(3, 20)
  replies.push(new DeliveryError('HTTP 403', { status: 403 }))
  await poll(4, 10)
  expect(calls()).toEqual(['POST /hook/', 'PATCH /hook/messages/7'])
})

test('nothing is edited once it is closed', async () => {
  const { poll, message, calls, fleet, clock } = start()
  await fleet.pollAll()
  await message.close()
  await clock.advance(60_000)
  await poll(5, 60)
  expect(calls()).toEqual([])
})
