import dns from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ChannelType, ChannelValues, Delivery } from '../../src/notify/channels/channel.ts'
import { DeliveryError } from '../../src/notify/channels/channel.ts'
import { channelTypes } from '../../src/notify/channels/index.ts'
import type { Notification } from '../../src/notify/notification.ts'
import { FileOutbox } from '../../src/notify/outbox.ts'
import { createChannelClient, createContext, Sender } from '../../src/notify/sender.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { testNotification } from '../helpers/notifications.ts'
import { startReceiver } from '../helpers/notify-receiver.ts'
import { until } from '../helpers/until.ts'

const start = 1_700_000_001_000
const hour = 3_600_000

/** A sender to a channel that records what it is sent, with a manual clock. Of `failures`, each attempt takes one. */
async function startSender(joins: boolean, { publicUrl }: { readonly publicUrl?: string } = {}) {
  const clock = manualClock()
  const attempts: { readonly at: number; readonly delivery: Delivery; readonly values: ChannelValues }[] = []
  const failures: Error[] = []
  const lines: unknown[][] = []
  const add = (...line: unknown[]) => lines.push(line)
  const type: ChannelType = {
    ...{ type: 'webhook', keys: {}, joins },
    async send(delivery, values) {
      attempts.push({ at: clock.now() - 1_000, delivery, values })
      const failure = failures.shift()
      if (failure !== undefined) throw failure
    },
  }
  const outbox = await FileOutbox.open({ channel: 'ops', log: silentLog, clock: systemClock })
  const client = createChannelClient(true)
  onTestFinished(() => client.close())
  const sender = new Sender({
    ...{ settings: { name: 'ops', type, values: { url: 'there' } }, outbox, client, allowPrivate: true, clock, publicUrl },
    ...{ log: { ...silentLog, debug: add, warn: add, error: add }, random: () => 0.5 },
  })
  onTestFinished(() => sender.close())
  /** Queues notifications by the times at which they were queued, milliseconds after the start, and wakes the sender. */
  const tell = async (...times: readonly number[]) => {
    const notifications = times.map((time) => testNotification({ queuedAt: start + time }))
    await outbox.commit('survival', undefined, {}, notifications)
    void sender.wake()
    await clock.advance(0)
    return notifications
  }
  const times = () => attempts.map(({ at }) => at)
  return { clock, attempts, failures, lines, outbox, sender, tell, times }
}

describe('a sender', () => {
  it('joins what comes within five seconds, and shows ten of them', async () => {
    const { clock, attempts, tell, sender, outbox } = await startSender(true, { publicUrl: 'https://status.example.org/' })
    const early = await tell(0)
    await clock.advance(4_000)
    const late = await tell(...Array.from({ length: 11 }, () => 4_000), 5_000)
    await clock.advance(999)
    expect(attempts).toEqual([])
    await clock.advance(1)
    const all = [...early, ...late]
    const common = { publicUrl: 'https://status.example.org/', at: start + 5_000 }
    expect(attempts).toEqual([
      { at: 5_000, delivery: { notifications: all.slice(0, 10), more: 3, ...common }, values: { url: 'there' } },
    ])
    expect([sender.counts, outbox.length]).toEqual([{ sent: 13, failed: 0 }, 0])
    // What is older is sent at once.
    await tell(-1_000)
    expect(attempts).toHaveLength(2)
  })

  it('shows the worst ten, in their order, whatever came first', async () => {
    const { clock, attempts, outbox, sender } = await startSender(true)
    const events = [...Array<'join'>(9).fill('join'), 'up', 'full', 'down', 'leave', 'down', 'join'] as const
    const all = events.map((event) => testNotification({ event, queuedAt: start }))
    await outbox.commit('survival', undefined, {}, all)
    void sender.wake()
    await clock.advance(5_000)
    const [{ delivery }] = attempts as [(typeof attempts)[0]]
    expect(delivery.notifications).toEqual([...all.slice(0, 4), ...all.slice(9)])
    expect([delivery.more, outbox.length]).toEqual([5, 0])
  })

  it('shows no server as down that is up again', async () => {
    const { clock, attempts, outbox, sender } = await startSender(true)
    const all = [...'abcdefg'].flatMap((server) =>
      (['down', 'up'] as const).map((event) => testNotification({ event, server, queuedAt: start })),
    )
    await outbox.commit('survival', undefined, {}, all)
    void sender.wake()
    await clock.advance(5_000)
    const [{ delivery }] = attempts as [(typeof attempts)[0]]
    const told = delivery.notifications.map(({ server, event }) => `${server} ${event}`)
    expect(told).toEqual(['a down', 'a up', 'b down', 'b up', 'c down', 'c up', 'd up', 'e up', 'f up', 'g up'])
  })

  it.each([1, -1])('does not join what was queued more than five seconds apart, in the direction %d', async (direction) => {
    const { clock, attempts, tell } = await startSender(true)
    const [first, second, third] = await tell(-60_000, -60_000 + 5_000 * direction, -60_000 + 5_001 * direction)
    await clock.advance(5_000)
    expect(attempts.map(({ delivery }) => delivery.notifications)).toEqual([[first, second], [third]])
    expect(attempts.map(({ delivery }) => delivery.more)).toEqual([0, 0])
  })

  it('waits at most five seconds although the clock was set back', async () => {
    const { clock, times, tell } = await startSender(true)
    await tell(hour)
    await clock.advance(4_999)
    expect(times()).toEqual([])
    await clock.advance(1)
    expect(times()).toEqual([5_000])
  })

  it('sends one by one at once if its channel does not join', async () => {
    const { attempts, tell, sender } = await startSender(false)
    const [first, second] = await tell(0, 0)
    expect(attempts.map(({ at, delivery }) => [at, delivery.notifications, delivery.more])).toEqual([
      [0, [first], 0],
      [0, [second], 0],
    ])
    expect(sender.counts.sent).toBe(2)
  })

  it('tries again after a pause that doubles up to five minutes', async () => {
    const { clock, times, tell, failures, sender, lines } = await startSender(false)
    failures.push(...Array.from({ length: 11 }, (_, index) => new DeliveryError(`failure ${index}`)))
    await tell(0)
    expect([sender.problem, times()]).toEqual(['failure 0', [0]])
    await clock.advance(hour)
    // With a random reduction, here by a tenth.
    const pauses = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 900)
    expect(times().map((time, index, all) => time - (all[index - 1] ?? 0))).toEqual([0, ...pauses])
    expect(lines).toEqual([
      [{ channel: 'ops' }, 'ops: a notification cannot be sent (failure 0); it is tried again for 24 hours'],
    ])
    expect([sender.counts, sender.problem]).toEqual([{ sent: 1, failed: 0 }, undefined])
    // The next failure is a new one.
    failures.push(new DeliveryError('again'))
    const before = times().length
    await tell(hour)
    await clock.advance(900)
    expect(times().slice(before)).toEqual([hour, hour + 900])
    expect(lines).toHaveLength(2)
  })

  it('keeps the pause that a failure asks for, if it is longer', async () => {
    const { clock, times, tell, failures } = await startSender(false)
    failures.push(new DeliveryError('busy', { retryAfterMs: 60_000 }), new DeliveryError('busy', { retryAfterMs: 1 }))
    await tell(0)
    await clock.advance(hour)
    expect(times()).toEqual([0, 60_000, 61_800])
  })

  it('gives up what will never be accepted, and begins again with short pauses', async () => {
    const { clock, times, tell, failures, sender, lines } = await startSender(false)
    failures.push(new DeliveryError('busy'), new DeliveryError('no', { isTemporary: false }), new DeliveryError('busy again'))
    await tell(0, 0)
    await clock.advance(10_000)
    expect(times()).toEqual([0, 900, 900, 1_800])
    expect(sender.counts).toEqual({ sent: 1, failed: 1 })
    expect(lines.slice(1)).toEqual([[{ channel: 'ops', count: 1 }, 'ops: a notification is given up (no)']])
  })

  it('gives up after 24 hours', async () => {
    const { clock, tell, failures, lines, sender, outbox } = await startSender(true)
    failures.push(...Array.from({ length: 3 }, () => new Error('busy')))
    await tell(1 - 24 * hour, 1 - 24 * hour)
    expect([lines, sender.counts.failed]).toEqual([[expect.anything()], 0])
    await clock.advance(900)
    expect(lines.slice(1)).toEqual([[{ channel: 'ops', count: 2 }, 'ops: 2 notifications are given up (for 24 hours: busy)']])
    expect([sender.counts, outbox.length, sender.problem]).toEqual([{ sent: 0, failed: 2 }, 0, 'busy'])
    await tell(900 - 24 * hour)
    expect(lines.slice(2)).toEqual([[{ channel: 'ops', count: 1 }, 'ops: a notification is given up (for 24 hours: busy)']])
  })

  it('looks again at what waits when the oldest was removed during a pause', async () => {
    const { clock, attempts, tell, outbox } = await startSender(true)
    const [first] = await tell(0)
    const [second] = await tell(1_000)
    await outbox.remove(first ? [first] : [])
    await clock.advance(6_000)
    expect(attempts.map(({ at, delivery }) => [at, delivery.notifications])).toEqual([[6_000, [second]]])
    // Also without being told so.
    const [fourth] = await tell(6_000)
    const fifth = testNotification({ queuedAt: start + 6_000 })
    await outbox.commit('survival', undefined, {}, [fifth])
    await outbox.remove(fourth ? [fourth] : [])
    await clock.advance(5_000)
    expect(attempts[1]?.delivery.notifications).toEqual([fifth])
    const third = await tell(11_000)
    await outbox.remove(third)
    await clock.advance(hour)
    expect([attempts.length, clock.pending]).toEqual([2, 0])
  })

  it('goes on when the outbox is available again', async () => {
    const { attempts, outbox, sender, tell, lines, clock } = await startSender(false)
    const { oldest } = outbox
    const error = new Error('not available')
    outbox.oldest = () => Promise.reject(error)
    await tell(0)
    expect(lines).toEqual([[{ err: error, channel: 'ops' }, 'the notifications cannot be read']])
    outbox.oldest = oldest
    void sender.wake()
    await clock.advance(0)
    expect(attempts).toHaveLength(1)
  })

  it('does not miss what is added while it looks for the last time', async () => {
    const { outbox, sender, attempts, clock } = await startSender(false)
    const { oldest } = outbox
    outbox.oldest = async (count) => {
      outbox.oldest = oldest
      const found = await oldest.call(outbox, count)
      await outbox.commit('survival', undefined, {}, [testNotification()])
      void sender.wake()
      return found
    }
    void sender.wake()
    await clock.advance(0)
    expect(attempts).toHaveLength(1)
  })

  it('ends at once during a pause, and sends nothing more', async () => {
    const { clock, times, tell, failures, sender, outbox } = await startSender(false)
    failures.push(new DeliveryError('busy'))
    await tell(0)
    await sender.close()
    expect(clock.pending).toBe(0)
    void sender.wake()
    await clock.advance(hour)
    expect([times(), outbox.length]).toEqual([[0], 1])
  })

  it('ends while it waits for more', async () => {
    const { clock, attempts, tell, sender } = await startSender(true)
    await tell(0)
    await sender.close()
    expect([attempts, clock.pending]).toEqual([[], 0])
  })

  it('neither reports nor gives up what fails because it ends', async () => {
    const { clock, attempts, tell, failures, sender, lines, outbox } = await startSender(false)
    const failure = new DeliveryError('aborted', { isTemporary: false })
    // Thrown when it has been closed.
    Object.defineProperty(failures, 'shift', {
      value() {
        void sender.close()
        return failure
      },
    })
    await tell(0)
    await clock.advance(hour)
    expect([attempts.length, sender.counts.failed, lines, outbox.length]).toEqual([1, 0, [], 1])
  })
})

type Headers = Readonly<Record<string, string>>
const now = Date.UTC(2026, 0, 1)

/** What the reply to a request leads to: the pause after a success, or the error. */
async function resultOf(status: number, headers: Headers, body = '', retryAfterMs?: ChannelType['retryAfterMs']) {
  const server = createServer((_request, response) => void response.writeHead(status, headers).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = createChannelClient(true)
  const pauses: number[] = []
  const type: ChannelType = {
    ...{ type: 'x', joins: true, keys: {}, send: async () => {} },
    ...(retryAfterMs && { retryAfterMs }),
  }
  const context = createContext({ type, client, allowPrivate: true, now: () => now }, (ms) => pauses.push(ms))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  try {
    return await context.request({ url }).then(
      () => pauses,
      (error: DeliveryError) => error,
    )
  } finally {
    await client.close()
    server.close()
  }
}

describe('a reply', () => {
  it.each<[Headers, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '12.5' }, 12_500],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': '1e3 s' }, undefined],
    [{ 'retry-after': 'x1' }, undefined],
    [{ 'retry-after': new Date(now + 7_000).toUTCString() }, 7_000],
    [{ 'retry-after': new Date(now - 7_000).toUTCString() }, undefined],
    [{ 'retry-after': '86400' }, hour],
    [{ 'x-ratelimit-reset-after': '3' }, 3_000],
    [{ 'x-ratelimit-reset': String(now / 1_000 + 4) }, 4_000],
    [{ 'x-ratelimit-reset': '9e9', 'x-ratelimit-reset-after': '3' }, 3_000],
    [{ 'x-ratelimit-reset-after': '3', 'retry-after': '2' }, 3_000],
    [{ 'x-ratelimit-reset-after': '2', 'retry-after': '3' }, 3_000],
  ])('429 with %j asks for a pause', async (headers, retryAfterMs) => {
    expect(await resultOf(429, headers)).toMatchObject({
      status: 429,
      isTemporary: true,
      message: 'it answers 429',
      retryAfterMs,
    })
  })

  it('429 may ask for a pause in its body', async () => {
    const inBody = (body: unknown) => (body as { readonly wait: number }).wait
    expect(await resultOf(429, {}, '{"wait":5}', inBody)).toMatchObject({ retryAfterMs: 5 })
    expect(await resultOf(429, { 'retry-after': '1' }, '{"wait":5', inBody)).toMatchObject({ retryAfterMs: 1_000 })
    expect(await resultOf(429, {}, '{"wait":5}')).toMatchObject({ retryAfterMs: undefined })
    expect(await resultOf(503, {}, '{"wait":5}', inBody)).toMatchObject({ retryAfterMs: undefined })
  })

  it('of success asks for a pause when the limit is used up', async () => {
    expect(await resultOf(200, {})).toEqual([])
    expect(await resultOf(299, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '3' })).toEqual([3_000])
    expect(await resultOf(204, { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset-after': '3' })).toEqual([])
  })

  it.each([
    [300, false],
    [399, false],
    [400, false],
    [408, true],
    [409, false],
    [499, false],
    [500, true],
  ])('%d is temporary: %s', async (status, isTemporary) => {
    const hint = ', a redirect, which is not followed: set its URL to where it leads'
    const message = `it answers ${status}${status < 400 ? hint : ''}`
    expect(await resultOf(status, {})).toMatchObject({ status, isTemporary, message, retryAfterMs: undefined })
  })
})

it('keeps the pause that a success asks for before the next message', async () => {
  const clock = manualClock()
  const received: number[] = []
  const server = createServer((_request, response) => {
    received.push(clock.now() - 1_000)
    response.writeHead(204, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(start / 1_000 + 30) }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const outbox = await FileOutbox.open({ channel: 'ops', log: silentLog, clock: systemClock })
  const client = createChannelClient(true)
  const type: ChannelType = {
    ...{ type: 'x', joins: false, keys: {} },
    send: (_delivery, _values, context) => context.request({ method: 'POST', url }),
  }
  const settings = { name: 'ops', type, values: {} }
  const sender = new Sender({ settings, outbox, client, allowPrivate: true, clock, log: silentLog })
  onTestFinished(async () => {
    await sender.close()
    await client.close()
    server.close()
  })
  await outbox.commit('a', undefined, {}, [testNotification(), testNotification()] as Notification[])
  void sender.wake()
  await until(() => clock.pending === 1)
  await clock.advance(29_999)
  expect(received).toEqual([0])
  await clock.advance(1)
  await until(() => sender.counts.sent === 2)
  expect(received).toEqual([0, 30_000])
})

describe('the address of a mail server', () => {
  const resolveOf = (allowPrivate: boolean) => {
    const client = createChannelClient(allowPrivate)
    onTestFinished(() => client.close())
    const type: ChannelType = { type: 'x', joins: true, keys: {}, send: async () => {} }
    return createContext({ type, client, allowPrivate, now: () => now }).resolve
  }
  /** Looks up each name with this result. */
  const answer = (addresses: readonly string[]) => {
    const lookup = vi.spyOn(dns, 'lookup').mockResolvedValue(addresses.map((address) => ({ address, family: 4 })) as never)
    syncBuiltinESMExports()
    onTestFinished(() => {
      lookup.mockRestore()
      syncBuiltinESMExports()
    })
  }
  const privateAddress = { isTemporary: false, message: 'its address is private; set notify.allowPrivate to allow it' }

  it('is that which was checked', async () => {
    expect(await resolveOf(true)('localhost')).toBe('localhost')
    const resolve = resolveOf(false)
    expect(await resolve('8.8.8.8')).toBe('8.8.8.8')
    await expect(resolve('10.0.0.1')).rejects.toMatchObject(privateAddress)
    await expect(resolve('localhost')).rejects.toMatchObject(privateAddress)
    answer(['8.8.8.8', '1.1.1.1'])
    expect(await resolve('mail.example.org')).toBe('8.8.8.8')
    answer(['8.8.8.8', '10.0.0.1'])
    await expect(resolve('mail.example.org')).rejects.toMatchObject(privateAddress)
  })

  it('is tried again if the name cannot be resolved', async () => {
    await expect(resolveOf(false)('mail.invalid.')).rejects.toMatchObject({
      isTemporary: true,
      message: expect.stringMatching(/^the name cannot be resolved \(E\w+\)$/),
    })
  })
})

it('a connection to an address that is not allowed fails for good', async () => {
  const client = createChannelClient(false)
  onTestFinished(() => client.close())
  const type: ChannelType = { type: 'x', joins: true, keys: {}, send: async () => {} }
  const context = createContext({ type, client, allowPrivate: false, now: () => now })
  await expect(context.request({ url: new URL('http://127.0.0.1:1/') })).rejects.toMatchObject({
    ...{ isTemporary: false, status: undefined, message: 'its address is private; set notify.allowPrivate to allow it' },
  })
})

it('any 2xx is a success, whatever its body', async () => {
  const receiver = await startReceiver()
  receiver.answers.push(
    (response) => void response.writeHead(200).end('x'.repeat(1_000_000)),
    (response) => {
      response.writeHead(202, { 'content-length': '100' }).write('x')
      setTimeout(() => response.destroy(), 1)
    },
  )
  const [type] = channelTypes
  if (type === undefined) throw new Error('no channel')
  const client = createChannelClient(true)
  onTestFinished(() => client.close())
  const context = createContext({ type, client, allowPrivate: true, now: Date.now })
  for (let attempt = 0; attempt < 2; attempt++)
    await type.send({ notifications: [testNotification()], more: 0, at: 0 }, { url: receiver.url }, context)
})

it('sends the user name and password of a URL, unless the channel has a token', async () => {
  const receiver = await startReceiver()
  const client = createChannelClient(true)
  onTestFinished(() => client.close())
  const url = receiver.url.replace('://', '://user:pa%40ss@')
  for (const [name, values] of Object.entries({ webhook: { url }, ntfy: { url, token: 'own' } })) {
    const type = channelTypes.find(({ type }) => type === name)
    if (type === undefined) throw new Error('no channel')
    const context = createContext({ type, client, allowPrivate: true, now: Date.now })
    await type.send({ notifications: [testNotification()], more: 0, at: 0 }, values, context)
  }
  const basic = `Basic ${Buffer.from('user:pa@ss').toString('base64')}`
  expect(receiver.accepted.map(({ headers }) => headers.authorization)).toEqual([basic, 'Bearer own'])
})

it('redirects, 4xx and private addresses end at once', async () => {
  const receiver = await startReceiver()
  receiver.answers.push((response) => void response.writeHead(401).end())
  const [type] = channelTypes
  if (type === undefined) throw new Error('no channel')
  const client = createChannelClient(true)
  onTestFinished(() => client.close())
  const context = createContext({ type, client, allowPrivate: false, now: Date.now })
  const send = () => type.send({ notifications: [testNotification()], more: 0, at: Date.now() }, { url: receiver.url }, context)
  await expect(send()).rejects.toMatchObject({ isTemporary: false, status: 401, message: 'it answers 401' })
  receiver.answers.push((response) => void response.writeHead(307, { location: '/elsewhere' }).end())
  const redirect = 'it answers 307, a redirect, which is not followed: set its URL to where it leads'
  await expect(send()).rejects.toMatchObject({ isTemporary: false, status: 307, message: redirect })
  receiver.answers.push((response) => void response.destroy())
  await expect(send()).rejects.toMatchObject({ isTemporary: true, message: 'it cannot be reached (the connection was closed)' })
  await send()
  const guarded = createChannelClient(false)
  onTestFinished(() => guarded.close())
  for (const host of [
    'localhost',
    '127.0.0.1',
    '[::1]',
    '0.0.0.0',
    '10.1.2.3',
    '169.254.169.254',
    '[fd00::1]',
    '[::ffff:10.0.0.1]',
    '2130706433',
  ]) {
    const blocked = createContext({ type, client: guarded, allowPrivate: false, now: Date.now })
    const url = `http://${host}:${new URL(receiver.url).port}/`
    await expect(type.send({ notifications: [testNotification()], more: 0, at: 0 }, { url }, blocked)).rejects.toMatchObject({
      isTemporary: false,
    })
  }
  expect(receiver.requests).toHaveLength(4)
})
