import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { ChannelValues } from '../../src/notify/channels/channel.ts'
import { channelTypes } from '../../src/notify/channels/index.ts'
import type { Notification, NotifiedEvent } from '../../src/notify/notification.ts'
import { FileOutbox } from '../../src/notify/outbox.ts'
import { createChannelClient, createContext, Sender } from '../../src/notify/sender.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { impatientClock } from '../helpers/impatient-clock.ts'
import { failures, type NotifyReceiver, startReceiver } from '../helpers/notify-receiver.ts'
import { until } from '../helpers/until.ts'

/** As long and as strange as game servers can make it. */
const hostile = '@everyone <!channel> **x** [a](http://b) \u0001 <b>&amp;'
const state = {
  ...{ up: true, online: 20, max: 20, players: null, version: 'v'.repeat(5_000), software: null, motd: hostile.repeat(500) },
  ...{
    tickRate: 20,
    tickTimeMean: 1,
    tickTimeP99: 1,
    paused: false,
    frozen: false,
    responsive: true,
    latency: 1,
    maintenance: null,
  },
}
let count = 0
function notification(text: string, event: NotifiedEvent = 'down'): Notification {
  const id = `id-${count++}`
  return {
    id,
    at: 1_795_269_600_000,
    event,
    server: 'survival',
    group: null,
    text,
    error: 'x'.repeat(5_000),
    duration: 48,
    state,
    queuedAt: systemClock.wall() - 60_000,
  }
}

/** What the real service would reject, as it documents it. */
const checks: Readonly<Record<string, (request: NotifyReceiver['requests'][number]) => void>> = {
  webhook({ headers, json }) {
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-tickwarden-id': json.id })
  },
  discord({ json: { content, embeds, allowed_mentions } }) {
    expect(content.length).toBeLessThanOrEqual(2_000)
    expect(embeds.length).toBeGreaterThan(0)
    expect(embeds.length).toBeLessThanOrEqual(10)
    expect(allowed_mentions).toEqual({ parse: [] })
    let total = 0
    for (const { title, description = '', fields, timestamp, color } of embeds) {
      expect(title.length).toBeLessThanOrEqual(256)
      expect(description.length).toBeLessThanOrEqual(4_096)
      expect(fields.length).toBeLessThanOrEqual(25)
      expect(new Date(timestamp).toISOString()).toBe(timestamp)
      expect(Number.isInteger(color) && color >= 0 && color <= 0xff_ff_ff).toBe(true)
      total += title.length + description.length
      for (const { name, value } of fields) {
        expect(name.length > 0 && name.length <= 256 && value.length > 0 && value.length <= 1_024).toBe(true)
        total += name.length + value.length
      }
    }
    expect(total).toBeLessThanOrEqual(6_000)
  },
  slack({ json }) {
    expect(json.text.length > 0 && json.text.length <= 4_000).toBe(true)
    expect(json.text).not.toMatch(/<|>|&(?!(amp|lt|gt);)/)
  },
  ntfy({ path, headers, body }) {
    expect(path).toBe('/topic')
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(4_096)
    expect(headers.title).toMatch(/^[\x20-\x7e]+$/)
    expect(headers.priority).toMatch(/^[1-5]$/)
    expect(headers.authorization).toBe('Bearer tk_1')
  },
  telegram({ path, json }) {
    expect(path).toBe('/bot123:abc/sendMessage')
    expect(json).toMatchObject({ chat_id: '-100' })
    expect(json.text.length > 0 && json.text.length <= 4_096).toBe(true)
    expect(json.parse_mode).toBeUndefined()
  },
}

/** @throws Error for a type without a check, which would pass whatever it sends */
function checkOf(type: string) {
  const check = checks[type]
  if (check === undefined) throw new Error(`no check of what ${type} sends`)
  return check
}

const valuesOf = (url: string): Readonly<Record<string, ChannelValues>> => ({
  webhook: { url: `${url}/hook`, secret: 'key' },
  discord: { url: `${url}/api/webhooks/1/token` },
  slack: { url: `${url}/services/x` },
  ntfy: { url: `${url}/topic`, token: 'tk_1' },
  telegram: { url, token: '123:abc', chat: '-100' },
})

const fastClock = impatientClock(1_000)

for (const type of channelTypes.filter(({ type }) => type !== 'email')) {
  test(`${type.type}: each message arrives once and in order, although the receiver fails in twelve ways`, async () => {
    const receiver = await startReceiver()
    receiver.answers.push(...failures)
    const outbox = await FileOutbox.open({ channel: 'c', log: silentLog, clock: systemClock })
    const client = createChannelClient(true)
    const settings = { name: 'c', type, values: valuesOf(receiver.url)[type.type] ?? {} }
    const sender = new Sender({ settings, outbox, client, allowPrivate: true, clock: fastClock, log: silentLog, joinWithinMs: 0 })
    onTestFinished(async () => {
      await sender.close()
      await client.close()
    })
    const texts = Array.from({ length: 14 }, (_, index) => `message ${index} ${hostile} ${'y'.repeat(900)}`)
    // Apart, so that they are not joined.
    for (const [index, text] of texts.entries())
      await outbox.commit('survival', undefined, {}, [
        { ...notification(text), queuedAt: systemClock.wall() - 100_000 + index * 1_000 },
      ])
    void sender.wake()
    await until(() => sender.counts.sent === texts.length)
    expect(sender.counts).toEqual({ sent: 14, failed: 0 })
    const numbers = receiver.accepted.map(({ body }) => Number(/message\\*? (\d+)/.exec(body)?.[1]))
    expect(numbers).toEqual(texts.map((_, index) => index))
    expect(receiver.requests).toHaveLength(texts.length + failures.length)
    for (const request of receiver.requests) checkOf(type.type)(request)
  })

  test(`${type.type}: many at once stay within the limits`, async () => {
    const receiver = await startReceiver()
    const client = createChannelClient(true)
    onTestFinished(() => client.close())
    const context = createContext({ type, client, allowPrivate: true, now: Date.now })
    const notifications = Array.from({ length: type.joins ? 10 : 1 }, (_, index) =>
      notification(`${index} ${hostile} ${'ü'.repeat(5_000)}`),
    )
    await type.send(
      { notifications, more: 17, at: Date.now(), publicUrl: 'https://status.example.org/' },
      valuesOf(receiver.url)[type.type] ?? {},
      context,
    )
    expect(receiver.accepted).toHaveLength(1)
    for (const request of receiver.accepted) checkOf(type.type)(request)
    if (type.joins) expect(receiver.accepted[0]?.body).toContain('and 17 more')
  })
}

type Stage = 'connect' | 'ehlo' | 'mail' | 'rcpt' | 'data' | 'body'

/**
 * A mail server.
 * @param failures one for each connection, then none: at a stage it answers with an error, or closes the connection
 */
async function startMailServer(failures: readonly (readonly [Stage, string | undefined])[]) {
  const mails: string[] = []
  const left = [...failures]
  const replies = {
    connect: '220 test ESMTP',
    ehlo: '250 ok',
    mail: '250 ok',
    rcpt: '250 ok',
    data: '354 go',
    body: '250 ok',
  } as const
  const stages = new Map<string, Stage>([
    ['EHLO', 'ehlo'],
    ['HELO', 'ehlo'],
    ['MAIL', 'mail'],
    ['RCPT', 'rcpt'],
    ['DATA', 'data'],
  ])
  const server = createServer((socket: Socket) => {
    const [failing, answer] = left.shift() ?? []
    let [buffer, isData] = ['', false]
    /** @returns whether it goes on */
    const reply = (stage: Stage): boolean => {
      if (stage === failing && answer === undefined) socket.destroy()
      else socket.write(`${stage === failing ? answer : replies[stage]}\r\n`)
      return stage !== failing
    }
    reply('connect')
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      buffer += chunk
      for (;;) {
        const end = buffer.indexOf(isData ? '\r\n.\r\n' : '\r\n')
        if (end === -1) return
        const line = buffer.slice(0, end)
        buffer = buffer.slice(end + (isData ? 5 : 2))
        if (isData) {
          isData = false
          if (reply('body')) mails.push(line)
          continue
        }
        const stage = stages.get(line.slice(0, 4).toUpperCase())
        if (stage === undefined) socket.write('250 ok\r\n')
        else if (reply(stage)) isData = stage === 'data'
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { mails, left, values: { url, from: 'tickwarden@example.org', to: 'ops@example.org' } }
}

const email = () => {
  const type = channelTypes.find(({ type }) => type === 'email')
  if (type === undefined) throw new Error('no channel')
  return type
}

test('email: each message arrives once and in order, although the mail server fails in twelve ways', async () => {
  const { mails, left, values } = await startMailServer([
    ...[['connect', undefined] as const, ['connect', '421 busy'] as const, ['connect', '?!'] as const],
    ...[
      ['ehlo', undefined] as const,
      ['ehlo', '421 busy'] as const,
      ['mail', '451 later'] as const,
      ['mail', undefined] as const,
    ],
    ...[['rcpt', '450 later'] as const, ['rcpt', undefined] as const, ['data', '451 later'] as const],
    ...[['body', '452 full'] as const, ['body', undefined] as const],
  ])
  const outbox = await FileOutbox.open({ channel: 'c', log: silentLog, clock: systemClock })
  const client = createChannelClient(true)
  const settings = { name: 'c', type: email(), values }
  const sender = new Sender({ settings, outbox, client, allowPrivate: true, clock: fastClock, log: silentLog, joinWithinMs: 0 })
  onTestFinished(async () => {
    await sender.close()
    await client.close()
  })
  for (let index = 0; index < 14; index++)
    await outbox.commit('survival', undefined, {}, [
      { ...notification(`message ${index}`), queuedAt: systemClock.wall() - 100_000 + index * 1_000 },
    ])
  void sender.wake()
  await until(() => sender.counts.sent === 14)
  expect([sender.counts, left]).toEqual([{ sent: 14, failed: 0 }, []])
  expect(mails.map((mail) => Number(/^Subject: message (\d+)/m.exec(mail)?.[1]))).toEqual(mails.map((_, index) => index))
  expect(mails).toHaveLength(14)
})

test('email: distinguishes temporary from permanent refusals, and keeps hostile texts out of the head', async () => {
  const { mails, values } = await startMailServer([
    ['body', '451 later'],
    ['body', '550 no'],
  ])
  const type = email()
  const client = createChannelClient(true)
  onTestFinished(() => client.close())
  const one = notification('survival is down: refused\r\nBcc: victim@example.org')
  const delivery = { notifications: [one], more: 0, at: Date.now() }
  const send = (allowPrivate: boolean) =>
    type.send(delivery, values, createContext({ type, client, allowPrivate, now: Date.now }))
  await expect(send(false)).rejects.toMatchObject({ isTemporary: false })
  await expect(send(true)).rejects.toMatchObject({ isTemporary: true, message: 'the mail server answers 451' })
  await expect(send(true)).rejects.toMatchObject({ isTemporary: false })
  await send(true)
  for (const mail of mails) {
    const [head = ''] = mail.split('\r\n\r\n')
    expect(head).toContain(`Message-ID: <${one.id}@tickwarden>`)
    expect(head).toMatch(/^Subject: survival is down/m)
    expect(head).not.toMatch(/^Bcc:/m)
  }
})
