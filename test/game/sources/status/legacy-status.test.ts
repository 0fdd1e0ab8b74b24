import net from 'node:net'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SourceError } from '../../../../src/game/errors.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { isModern, wantsWhole } from '../../../../src/game/sources/status/legacy-status.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { hostileServer } from '../../../helpers/hostile-servers.ts'
import { never } from '../../../helpers/never.ts'
import { patientClock } from '../../../helpers/patient-clock.ts'
import { encodeStatus } from '../../../helpers/status-packets.ts'
import { until } from '../../../helpers/until.ts'

const context = { clock: patientClock, log: silentLog, random: () => 0, push() {} }
const poll = (port: number) => new StatusSource({ edition: 'java', host: '127.0.0.1', port }, context).poll(never())

/** FF, the length in UTF-16 units, UTF-16BE: how servers up to 1.6 close a connection, also as the answer to a ping. */
function kick(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf16le').swap16()
  return Buffer.concat([Buffer.from([0xff, text.length >> 8, text.length & 0xff]), bytes])
}

/** Answers FE 01 with `answer`; anything else with `otherwise`, or by hanging up. */
const legacyServer = (answer: Buffer, otherwise?: Buffer) =>
  hostileServer((socket) => {
    socket.once('data', (request: Buffer) => {
      if (request[0] === 0xfe) socket.end(answer)
      else if (otherwise) socket.end(otherwise)
      else socket.end()
    })
  })

const answerOf1_6 = kick('§1\u000074\u00001.6.4\u0000A §aMinecraft Server\u00003\u000020')

/** The servers that were created since the call, such as the relays of legacy requests. */
function createdServers(): () => net.Server[] {
  const createServer = vi.spyOn(net, 'createServer')
  return () => createServer.mock.results.map(({ value }) => value as net.Server)
}
afterEach(() => vi.restoreAllMocks())

describe('the relay', () => {
  it('is not used for a modern server, whether it replies or not', async () => {
    await using modern = await hostileServer((socket) => void socket.once('data', () => socket.end(encodeStatus('{}'))))
    await using silent = await hostileServer((socket) => void socket.resume())
    const created = createdServers()
    await poll(modern.port)
    await expect(
      new StatusSource({ edition: 'java', host: '127.0.0.1', port: silent.port }, context).poll(AbortSignal.timeout(100)),
    ).rejects.toThrow()
    expect(created()).toEqual([])
  })

  it.each<[string, (socket: net.Socket) => void]>([
    ['is silent', () => {}],
    ['sends one byte at a time', (socket) => trickle(socket, kick('§1\u000074\u00001.6.4\u0000Hi\u00003\u000020'))],
    ['claims more than it sends', (socket) => void socket.write(Buffer.from('ffffff0041', 'hex'))],
    ['replies and keeps the connection open after half a reply', (socket) => void socket.write(answerOf1_6.subarray(0, 30))],
  ])('ends at the deadline if the server %s', async (_, answer) => {
    await using server = await hostileServer((socket) => {
      socket.once('data', (request: Buffer) => {
        if (request[0] === 0xfe) answer(socket)
        else socket.end(kick('Protocol error'))
      })
    })
    const created = createdServers()
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, context)
    const deadline = new AbortController()
    const reading = source.poll(deadline.signal)
    reading.catch(() => {})
    await expect.poll(() => created().length).toBe(2)
    await expect.poll(() => server.accepted()).toBeGreaterThanOrEqual(3)
    deadline.abort(new SourceError('timeout', 'late'))
    await expect(reading).rejects.toBeInstanceOf(SourceError)
    for (const relay of created()) {
      expect(relay.listening).toBe(false)
      await expect.poll(() => promisify(relay.getConnections.bind(relay))()).toBe(0)
    }
    await expect.poll(server.open).toBe(0)
  })
})

function trickle(socket: net.Socket, bytes: Buffer): void {
  let sent = 0
  const timer = setInterval(() => socket.write(bytes.subarray(sent % bytes.length, (sent++ % bytes.length) + 1)), 20)
  socket.once('close', () => clearInterval(timer))
}

describe('a legacy server', () => {
  const answer = answerOf1_6
  it.each([
    ['that ends the connection', undefined],
    ['that says why it ends the connection', kick('Protocol error')],
  ])('%s is read', async (_, otherwise) => {
    await using server = await legacyServer(answer, otherwise)
    const { fields } = await poll(server.port)
    expect(fields).toEqual({
      edition: 'java',
      version: '1.6.4',
      protocol: 74,
      motd: 'A Minecraft Server',
      formattedMotd: '§fA §aMinecraft Server',
      playersOnline: 3,
      playersMax: 20,
      ip: '127.0.0.1',
      port: server.port,
      latency: expect.any(Number),
    })
    await expect.poll(server.open).toBe(0)
  })

  it('of 1.6, which waits 1.5 s for the rest of the request, is sent the whole of it, from the second poll on alone', async () => {
    const text = (value: string) => Buffer.from(value, 'utf16le').swap16().toString('hex')
    await using server = await hostileServer((socket) => {
      let request = ''
      socket.on('data', (chunk: Buffer) => {
        request += chunk.toString('hex')
        const port = server.port.toString(16).padStart(8, '0')
        const rest = `fa000b${text('MC|PingHost')}00194e0009${text('127.0.0.1')}${port}`
        if (request === `fe01${rest}`) socket.end(answer)
        else if (!`fe01${rest}`.startsWith(request)) socket.end(kick('Protocol error'))
      })
    })
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, context)
    const status = { version: '1.6.4', protocol: 74, playersOnline: 3 }
    expect((await source.poll(never())).fields).toMatchObject(status)
    // The modern request, then all three.
    await expect.poll(server.accepted).toBe(4)
    expect((await source.poll(never())).fields).toMatchObject(status)
    expect(server.accepted()).toBe(5)
  })

  it('up to 1.3, which takes the rest for a login, is read, from the second poll on without it', async () => {
    const requests: string[] = []
    await using server = await hostileServer((socket) => {
      socket.once('data', (request: Buffer) => {
        requests.push(request.toString('hex'))
        socket.end(requests.at(-1) === 'fe01' ? kick('Old times§0§8') : '')
      })
    })
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, context)
    await source.poll(never())
    await until(() => requests.length === 4)
    expect((await source.poll(never())).fields).toMatchObject({ motd: 'Old times' })
    expect(requests.slice(4)).toEqual(['fe01'])
  })

  it('up to 1.3 sends no version', async () => {
    await using server = await legacyServer(kick('Old times§0§8'))
    const { fields } = await poll(server.port)
    expect(fields).toMatchObject({ motd: 'Old times', playersOnline: 0, playersMax: 8, players: { players: [], complete: true } })
    expect(fields).not.toHaveProperty('version')
  })

  it('is sent the whole request from 1.6 on, and is modern after 1.6.4', () => {
    expect([61, 73, 78].map((protocol) => wantsWhole({ protocol }))).toEqual([false, true, true])
    expect([{ protocol: 78 }, { protocol: 79 }, {}].map(isModern)).toEqual([false, true, false])
  })

  it('is only sent legacy requests once it is recognised, until it fails', async () => {
    await using server = await legacyServer(answer)
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, context)
    await source.poll(never())
    // The modern request, then all three.
    await expect.poll(server.accepted).toBe(4)
    await source.poll(never())
    expect(server.accepted()).toBe(5)
  })

  it.each([
    ['the protocol of the game', 127],
    ['that of a proxy', 774],
  ])('is read in the modern way in the same poll after an update in place: its legacy reply has %s', async (_, protocol) => {
    let isUpdated = false
    const modern = '{"version":{"name":"1.21.11","protocol":774},"players":{"online":4,"max":30}}'
    await using server = await hostileServer((socket) => {
      socket.once('data', (request: Buffer) => {
        if (!isUpdated) socket.end(request[0] === 0xfe ? answer : '')
        else socket.end(request[0] === 0xfe ? kick(`§1\0${protocol}\x001.21.11\0Hello\x004\x0030`) : encodeStatus(modern))
      })
    })
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, context)
    expect((await source.poll(never())).fields).toMatchObject({ version: '1.6.4', protocol: 74 })
    isUpdated = true
    const read = { version: '1.21.11', protocol: 774, playersOnline: 4, rawStatus: expect.anything() }
    expect((await source.poll(never())).fields).toMatchObject(read)
    const accepted = server.accepted()
    expect((await source.poll(never())).fields).toMatchObject(read)
    expect(server.accepted()).toBe(accepted + 1)
  })

  it.each([
    ['since 1.4', kick('§1\u000074\u00001.6.4\u0000Hi\u00003\u0000-1')],
    ['up to 1.3', kick('Hi§3§-1')],
  ])('%s with the maximum -1 is up, with an unknown maximum', async (_, bytes) => {
    await using server = await legacyServer(bytes)
    const { fields } = await poll(server.port)
    expect(fields).toMatchObject({ motd: 'Hi', playersOnline: 3 })
    expect(fields).not.toHaveProperty('playersMax')
  })

  it.each([
    ['since 1.4', '§1\u000074\u00001.6.4\u0000Hi\u0000-1\u000020', 'Hi', undefined],
    ['up to 1.3', 'Hi§-1§20', 'Hi', undefined],
    ['up to 1.3', '§4Red §6Gold§3§20', 'Red Gold', 3],
    ['up to 1.3', 'A1 §5server§3§20', 'A1 server', 3],
  ])('%s that answers %j is up with what is known', async (_, reply, motd, online) => {
    await using server = await legacyServer(kick(reply))
    const { fields } = await poll(server.port)
    expect([fields.motd, fields.playersOnline, fields.playersMax]).toEqual([motd, online, 20])
  })

  it('is not assumed for a modern server that closed the connection once', async () => {
    let hangUp = true
    await using server = await hostileServer((socket) => {
      socket.once('data', (request: Buffer) => {
        if (request[0] === 0xfe) socket.end(kick('§1\u0000127\u00001.21.11\u0000Hello\u00003\u000020'))
        else if (hangUp) socket.end()
        else socket.end(encodeStatus('{"version":{"name":"1.21.11","protocol":774}}'))
      })
    })
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, context)
    const { fields } = await source.poll(never())
    expect(fields).toMatchObject({ version: '1.21.11', motd: 'Hello', playersOnline: 3 })
    expect(fields).not.toHaveProperty('protocol')
    hangUp = false
    expect((await source.poll(never())).fields).toMatchObject({ protocol: 774 })
  })

  it.each([
    ['another text', kick('You are banned'), 'closed'],
    ['half an answer', answer.subarray(0, 20), 'closed'],
    ['another packet', Buffer.concat([Buffer.from([0]), kick('Hi§3§20').subarray(1)]), 'closed'],
    ['one count only', kick('§1\u000074\u00001.6.4\u0000Hi\u00003\u0000many'), 'closed'],
    ['nothing', Buffer.alloc(0), 'closed'],
  ])('that answers with %s fails with the error of the modern request', async (_, bytes, code) => {
    await using server = await legacyServer(bytes)
    await expect(poll(server.port)).rejects.toMatchObject({ name: 'SourceError', code })
    await expect.poll(server.open).toBe(0)
  })

  it('that claims 128 kB and streams without end is bounded', async () => {
    await using server = await hostileServer((socket) => {
      socket.once('data', (request: Buffer) => {
        if (request[0] !== 0xfe) return void socket.end()
        socket.write(Buffer.from('ffffff', 'hex'))
        const more = () => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
        }
        socket.on('drain', more)
        more()
      })
    })
    const cpu = process.cpuUsage()
    await expect(poll(server.port)).rejects.toMatchObject({ code: 'closed' })
    expect(process.cpuUsage(cpu).user / 1_000).toBeLessThan(5_000)
    await expect.poll(server.open).toBe(0)
  })

  it('that closes the modern connection and never answers the legacy one, like mc-router, fails long before the deadline', async () => {
    await using server = await hostileServer((socket) => {
      socket.once('data', (request: Buffer) => {
        if (request[0] !== 0xfe) socket.end()
      })
    })
    const own = { ...context, clock: systemClock }
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, own)
    // Without a deadline: only the source itself can end the poll.
    await expect(source.poll(never())).rejects.toMatchObject({ code: 'closed' })
    await expect.poll(server.open).toBe(0)
  })

  it('is not assumed for a server that closes the first connection and answers the second', async () => {
    let requests = 0
    await using server = await hostileServer((socket) => {
      socket.once('data', (request: Buffer) => {
        if (request[0] === 0xfe) return
        if (++requests === 1) socket.end()
        else socket.end(encodeStatus('{"version":{"name":"1.21.11","protocol":774}}'))
      })
    })
    const { fields } = await poll(server.port)
    expect(fields).toMatchObject({ version: '1.21.11', protocol: 774 })
    await expect.poll(server.open).toBe(0)
  })

  it('that becomes silent times out at the deadline', async () => {
    let isSilent = false
    await using server = await hostileServer((socket) => {
      socket.once('data', (request: Buffer) => {
        if (request[0] !== 0xfe) socket.end()
        else if (!isSilent) socket.end(answerOf1_6)
      })
    })
    const source = new StatusSource({ edition: 'java', host: '127.0.0.1', port: server.port }, context)
    await source.poll(never())
    isSilent = true
    await expect(source.poll(AbortSignal.timeout(300))).rejects.toThrow()
    await expect.poll(server.open).toBe(0)
  })
})
