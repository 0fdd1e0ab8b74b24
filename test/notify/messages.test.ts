import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type ChannelContext,
  type ChannelValues,
  type Delivery,
  DeliveryError,
  linesOf,
} from '../../src/notify/channels/channel.ts'
import { channelTypes } from '../../src/notify/channels/index.ts'
import { createNotification, cut, type Notification } from '../../src/notify/notification.ts'
import type { HttpRequest } from '../../src/util/http-client.ts'
import { selfSigned } from '../helpers/certificate.ts'
import { testNotification } from '../helpers/notifications.ts'
import { until } from '../helpers/until.ts'

const typeOf = (name: string) => {
  const type = channelTypes.find(({ type }) => type === name)
  if (type === undefined) throw new Error(`no channel ${name}`)
  return type
}

/** The requests of a delivery, with their body as JSON if it is. */
async function requestsOf(name: string, values: ChannelValues, delivery: Partial<Delivery>) {
  const requests: unknown[] = []
  const context: ChannelContext = {
    async request({ url, body = '', ...request }: HttpRequest) {
      requests.push({ ...request, url: String(url), body: body.startsWith('{') ? (JSON.parse(body) as unknown) : body })
      return { status: 204, headers: {}, body: Buffer.alloc(0) }
    },
    resolve: async (host) => host,
  }
  await typeOf(name).send({ notifications: [testNotification()], more: 0, at: 0, ...delivery }, values, context)
  return requests
}

const state = {
  ...{ up: true, online: 3, max: 20, players: null, version: '1.21', software: null, motd: 'A *server*', tickRate: null },
  ...{ tickTimeMean: null, tickTimeP99: null, paused: null, frozen: null, responsive: null, latency: null, maintenance: null },
}
const json = { 'content-type': 'application/json' }

describe('texts', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['a😀cd', 4, 'a😀…'],
    ['a😀cd', 3, 'a…'],
  ])('%j is cut to %d units', (text, max, expected) => expect(cut(text, max)).toBe(expected))

  it('are one per line, and share the room', () => {
    const notifications = ['one', 'x'.repeat(20), 'three'].map((text) => testNotification({ text }))
    expect(linesOf({ notifications, more: 0 }, 400)).toBe(`one\n${'x'.repeat(20)}\nthree`)
    expect(linesOf({ notifications, more: 1 }, 40)).toBe(`one\n${'x'.repeat(8)}…\nthree\nand 1 more`)
  })
})

describe('discord', () => {
  const embedOf = async (more: Partial<Notification>, publicUrl?: string) => {
    const [request] = await requestsOf(
      'discord',
      { url: 'https://discord.test/hook' },
      { notifications: [testNotification(more)], publicUrl },
    )
    return (request as { readonly body: { readonly embeds: readonly unknown[] } }).body.embeds[0]
  }

  it('shows one notification', async () => {
    const text = '@a <b> [c](d) _e_'
    expect(
      await requestsOf('discord', { url: 'https://discord.test/hook' }, { notifications: [testNotification({ text })] }),
    ).toEqual([
      {
        ...{ method: 'POST', url: 'https://discord.test/hook', headers: json },
        body: {
          content: '',
          embeds: [
            {
              ...{ title: '\\@a \\<b\\> \\[c\\]\\(d\\) \\_e\\_', color: 0xd9_30_25, timestamp: '2023-11-14T22:13:20.000Z' },
              fields: [],
            },
          ],
          allowed_mentions: { parse: [] },
        },
      },
    ])
  })

  it('lists several, and counts the others', async () => {
    const notifications = [testNotification({ text: 'a_b' }), testNotification({ text: 'c' })]
    expect(await requestsOf('discord', { url: 'https://discord.test/' }, { notifications, more: 4 })).toMatchObject([
      { body: { content: 'a\\_b\nc\nand 4 more', embeds: [{ title: 'a\\_b' }, { title: 'c' }] } },
    ])
  })

  it('shows the state', async () => {
    const field = (name: string, value: string) => ({ name, value, inline: true })
    expect(await embedOf({ event: 'up', duration: 300, error: 'a*b', state }, 'https://status.test/')).toEqual({
      ...{ title: 'survival is down', color: 0x1e_8e_3e, timestamp: '2023-11-14T22:13:20.000Z', description: 'A \\*server\\*' },
      thumbnail: { url: 'https://status.test/api/v1/servers/survival/favicon?size=64' },
      fields: [...[field('Players', '3 / 20'), field('Version', '1.21'), field('Duration', '5 min'), field('Error', 'a\\*b')]],
    })
    const unknown = { ...state, online: 3, max: null, version: null, motd: null }
    expect(await embedOf({ state: unknown, server: null }, 'https://status.test/')).toEqual({
      ...{ title: 'survival is down', color: 0xd9_30_25, timestamp: '2023-11-14T22:13:20.000Z', fields: [field('Players', '3')] },
    })
    expect(await embedOf({ state: { ...unknown, online: null } })).toMatchObject({ fields: [] })
    expect(await embedOf({ state: { ...unknown, online: 0 } })).toMatchObject({ fields: [field('Players', '0')] })
  })

  it.each([
    [1, true],
    [0, false],
  ])('shows the icon if its URL is shorter than 1,000 characters: by %d', async (shorter, isShown) => {
    const page = 'https://status.test/api/v1/servers//'
    const embed = await embedOf({ server: 'x'.repeat(1_000 - page.length - shorter) }, 'https://status.test/')
    expect(Object.hasOwn(embed as object, 'thumbnail')).toBe(isShown)
  })
})

it('slack escapes what formats', async () => {
  const notifications = [testNotification({ text: '<!channel> & *b*' }), testNotification({ text: 'c' })]
  expect(await requestsOf('slack', { url: 'https://slack.test/x' }, { notifications, more: 2 })).toEqual([
    {
      ...{ method: 'POST', url: 'https://slack.test/x', headers: json },
      body: { text: '&lt;!channel&gt; &amp; *b*\nc\nand 2 more', mrkdwn: false },
    },
  ])
})

it('slack gets no more than it shows, however many characters are escaped', async () => {
  const notifications = Array.from({ length: 30 }, () => testNotification({ text: '&'.repeat(200) }))
  const [request] = await requestsOf('slack', { url: 'https://slack.test/x' }, { notifications })
  const { text } = (request as { readonly body: { readonly text: string } }).body
  expect(text.length).toBeGreaterThan(3_000)
  expect(text.length).toBeLessThanOrEqual(4_000)
})

it.each([
  ['123456:ABC-DEF_1', true],
  ['x123456:ABC', false],
  ['123456:ABC!', false],
  ['123456:', false],
  ['a:ABC', false],
])('telegram: %s is a token: %s', (token, isValid) => {
  const { kind } = typeOf('telegram').keys.token!
  expect(kind.parse(token)).toBe(isValid ? token : undefined)
})

it('a failure is temporary unless it is said', () => {
  expect(new DeliveryError('no').isTemporary).toBe(true)
  expect(new DeliveryError('no', { isTemporary: false }).isTemporary).toBe(false)
})

it('telegram uses the server that is configured', async () => {
  const values = { token: '1:a', chat: '-100' }
  const body = { chat_id: '-100', text: 'survival is down', link_preview_options: { is_disabled: true } }
  const request = (url: string) => [{ method: 'POST', url: `${url}/bot1:a/sendMessage`, headers: json, body }]
  expect(await requestsOf('telegram', values, {})).toEqual(request('https://api.telegram.org'))
  for (const url of ['http://bots.test/x', 'http://bots.test/x/'])
    expect(await requestsOf('telegram', { ...values, url }, {})).toEqual(request('http://bots.test/x'))
})

it('nobody is mentioned in telegram but by the template', () => {
  const values = { at: 0, event: 'join', server: 'a', group: null, error: null, duration: null, player: '@admin_1' } as const
  const template = { join: '@oncall {player}: {motd}, {version}' }
  const seen = { ...state, motd: 'ask @owner', version: '@1' }
  const textIn = (name: string) => createNotification(template, { ...values, state: seen }, 0, typeOf(name).quote).text
  expect(textIn('telegram')).toBe('@oncall @\u2060admin_1: ask @\u2060owner, @\u20601')
  for (const { type } of channelTypes) if (type !== 'telegram') expect(textIn(type)).toBe('@oncall @admin_1: ask @owner, @1')
})

it('the pause of a reply is in its body, in seconds', () => {
  expect(typeOf('telegram').retryAfterMs?.({ parameters: { retry_after: 3 } })).toBe(3_000)
  expect(typeOf('telegram').retryAfterMs?.({})).toBeNaN()
  expect(typeOf('discord').retryAfterMs?.({ retry_after: 0.5 })).toBe(500)
})

describe('ntfy', () => {
  const url = 'https://ntfy.test/topic'
  const headersOf = (title: string, priority: string, tags: string) => ({
    ...{ 'content-type': 'text/plain; charset=utf-8', title, priority, tags },
  })

  it('has a title, and the priority and symbol of what is worst', async () => {
    expect(await requestsOf('ntfy', { url, token: 'tk' }, {})).toEqual([
      {
        ...{ method: 'POST', url, body: 'survival is down' },
        headers: { ...headersOf('survival', '4', 'rotating_light'), authorization: 'Bearer tk' },
      },
    ])
    const three = { notifications: [testNotification({ event: 'full' }), testNotification()], more: 1 }
    expect(await requestsOf('ntfy', { url }, three)).toEqual([
      {
        ...{ method: 'POST', url, body: 'survival is down\nsurvival is down\nand 1 more' },
        headers: headersOf('3 notifications', '4', 'rotating_light'),
      },
    ])
    expect(await requestsOf('ntfy', { url }, { more: 1 })).toMatchObject([{ headers: { title: '2 notifications' } }])
    const mild = { notifications: (['join', 'up', 'join'] as const).map((event) => testNotification({ event })) }
    expect(await requestsOf('ntfy', { url }, mild)).toMatchObject([{ headers: { priority: '3', tags: 'white_check_mark' } }])
    const two = { notifications: [testNotification(), testNotification()] }
    expect(await requestsOf('ntfy', { url }, two)).toMatchObject([{ headers: { title: '2 notifications' } }])
  })

  it.each([
    ['Grüße', `=?UTF-8?B?${Buffer.from('Grüße').toString('base64')}?=`],
    ['é', '=?UTF-8?B?w6k=?='],
    ['a b~', 'a b~'],
    ['aé', '=?UTF-8?B?YcOp?='],
    ['éa', '=?UTF-8?B?w6lh?='],
    ['x'.repeat(101), `=?UTF-8?B?${Buffer.from(`${'x'.repeat(99)}…`).toString('base64')}?=`],
    [null, 'Tickwarden'],
  ])('sends the title %j in ASCII', async (server, title) => {
    const notifications = [testNotification({ server, event: 'up' })]
    expect(await requestsOf('ntfy', { url }, { notifications })).toMatchObject([
      { headers: headersOf(title, '3', 'white_check_mark') },
    ])
  })
})

it('webhook signs only with a secret, and sends one request for each notification', async () => {
  const url = 'https://hook.test/'
  const one = testNotification({ duration: 7, error: 'refused', group: 'eu', state })
  const { queuedAt, ...body } = one
  const headers = { ...json, 'x-tickwarden-id': one.id, 'x-tickwarden-timestamp': '1700000000' }
  const request = { method: 'POST', url, headers, body }
  const at = 1_700_000_000_999
  const second = testNotification()
  expect(await requestsOf('webhook', { url }, { notifications: [one, second], at })).toEqual([
    ...[request, expect.objectContaining({ headers: { ...headers, 'x-tickwarden-id': second.id } })],
  ])
  const keys = ['id', 'at', 'event', 'server', 'group', 'text', 'error', 'duration', 'state'] as const
  const text = JSON.stringify(Object.fromEntries(keys.map((key) => [key, one[key]])))
  const signature = `sha256=${createHmac('sha256', 's').update(`1700000000.${text}`).digest('hex')}`
  expect(await requestsOf('webhook', { url, secret: 's' }, { notifications: [one], at })).toEqual([
    { ...request, headers: { ...headers, 'x-tickwarden-signature': signature } },
  ])
})

/** A mail server that accepts everything, but has no encryption. Or its port, with other replies to commands. */
async function startMailServer(replies: Readonly<Record<string, string>> = {}) {
  const commands: string[] = []
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.write('220 test\r\n')
    let [buffer, isData] = ['', false]
    socket.on('data', (chunk) => {
      buffer += chunk
      for (let end = buffer.indexOf('\r\n'); end !== -1; end = buffer.indexOf('\r\n')) {
        const line = buffer.slice(0, end)
        buffer = buffer.slice(end + 2)
        commands.push(line)
        const name = line.slice(0, 4)
        if (isData && line !== '.') continue
        isData = name === 'DATA'
        const answers: Readonly<Record<string, string>> = {
          ...{ EHLO: '250-test\r\n250 AUTH PLAIN', AUTH: '235 ok', DATA: '354 go', STAR: '502 there is no STARTTLS' },
          ...replies,
        }
        socket.write(`${answers[name] ?? '250 ok'}\r\n`)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { commands, port: (server.address() as AddressInfo).port }
}

describe('email', () => {
  const names = { from: 'tickwarden@example.org', to: 'ops@example.org, second@example.org' }
  /** Every name is that of this machine. */
  const context: ChannelContext = {
    request: () => Promise.reject(new Error('not HTTP')),
    resolve: async () => '127.0.0.1',
  }
  const send = (values: ChannelValues, delivery: Partial<Delivery> = {}) =>
    typeOf('email').send({ notifications: [testNotification()], more: 0, at: 0, ...delivery }, { ...names, ...values }, context)

  it('has sender, recipients, subject and text', async () => {
    const { commands, port } = await startMailServer()
    const one = testNotification()
    await send({ url: `smtp://mail.example.org:${port}` }, { notifications: [one] })
    for (const line of [
      ...['MAIL FROM:<tickwarden@example.org>', 'RCPT TO:<ops@example.org>', 'RCPT TO:<second@example.org>'],
      ...['Subject: survival is down', `Message-ID: <${one.id}@tickwarden>`, 'survival is down'],
    ])
      expect(commands).toContain(line)
    expect(commands.join()).not.toContain('AUTH')
    await send({ url: `smtp://mail.example.org:${port}` }, { notifications: [one, testNotification()], more: 3 })
    expect(commands).toContain('Subject: survival is down (and 4 more)')
    expect(commands).toContain('and 3 more')
  })

  it.each(['smtp://mail.example.org', 'smtp://[2001:db8::1]', 'smtp://localhost.example.org', 'smtp://10.127.0.1'])(
    'sends no password in the clear to %s',
    async (server) => {
      const { commands, port } = await startMailServer()
      const url = `${server.replace('//', '//user:secret@')}:${port}`
      await expect(send({ url })).rejects.toMatchObject({ name: 'DeliveryError' })
      expect(commands.join()).not.toMatch(/AUTH|MAIL/)
    },
  )

  it.each([
    ['localhost', 'us%40er:p%C3%A4ss', undefined, 'us@er', 'päss'],
    ['127.0.0.1', 'user:other', 'secret', 'user', 'secret'],
  ])('sends the password in the clear to this machine: %s', async (host, account, password, user, pass) => {
    const { commands, port } = await startMailServer()
    await send({ url: `smtp://${account}@${host}:${port}`, password })
    expect(commands).toContain(`AUTH PLAIN ${Buffer.from(`\0${user}\0${pass}`).toString('base64')}`)
  })

  it.each<[Readonly<Record<string, string>>, string, boolean]>([
    [{ AUTH: '535 no' }, 'the mail server answers 535', false],
    [{ AUTH: '454 later' }, 'the mail server answers 454', true],
    [{ MAIL: '499 later' }, 'the mail server answers 499', true],
    [{ MAIL: '500 no' }, 'the mail server answers 500', false],
  ])('the reply %j is told', async (replies, message, isTemporary) => {
    const { port } = await startMailServer(replies)
    await expect(send({ url: `smtp://user:pass@localhost:${port}` })).rejects.toMatchObject({ message, isTemporary })
  })

  it.each<[ChannelValues, string, boolean]>([
    [{ to: ',' }, 'EENVELOPE', false],
    [{ url: 'smtp://user@localhost' }, 'EAUTH', false],
  ])('what cannot be sent is given up: %j', async (values, message, isTemporary) => {
    const { port } = await startMailServer()
    const url = `${values.url ?? 'smtp://localhost'}:${port}`
    await expect(send({ ...values, url })).rejects.toMatchObject({ message, isTemporary })
  })

  it('does not wait forever for a server that is never silent', async () => {
    const tooLong = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(tooLong.signal)
    const { commands, port } = await startMailServer({ EHLO: '250-test' })
    const sent = send({ url: `smtp://localhost:${port}` })
    await until(() => commands.length > 0)
    tooLong.abort()
    await expect(sent).rejects.toMatchObject({
      message: 'the mail server did not accept the mail within 60 seconds',
      isTemporary: true,
    })
  })

  it('is encrypted from the beginning with smtps, and checks the certificate of the name', async () => {
    const { cert, key } = selfSigned()
    const asked: string[] = []
    const server = createTlsServer({ cert, key, SNICallback: (name, done) => done(null, void asked.push(name)) })
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const failure = { message: 'ESOCKET', isTemporary: true }
    await expect(send({ url: `smtps://mail.example.org:${port}` })).rejects.toMatchObject(failure)
    await expect(send({ url: `smtps://[2001:db8::1]:${port}` })).rejects.toMatchObject(failure)
    expect(asked).toEqual(['mail.example.org'])
  })
})
