import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import net from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { systemNetwork } from '../../../../src/game/network.ts'
import { StatusSource } from '../../../../src/game/sources/status/index.ts'
import { SourceWatcher } from '../../../../src/game/watcher/index.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { bedrockServer, pong } from '../../../helpers/bedrock-server.ts'
import { collectLog } from '../../../helpers/log-lines.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { never } from '../../../helpers/never.ts'
import { patientClock } from '../../../helpers/patient-clock.ts'
import { encodeStatus } from '../../../helpers/status-packets.ts'
import { until } from '../../../helpers/until.ts'

const context = { clock: patientClock, log: silentLog, random: () => 0, push() {} }
/** Addresses of this process alone, because other tests use the same port numbers over TCP. Only Linux has more than one. */
const own = (net: number) => `127.${net}.${(process.pid >> 8) & 0xff}.${process.pid & 0xff}`
const loopback = process.platform === 'linux' ? own(91) : '127.0.0.1'
const java = (port: number, host = loopback) => ({ edition: 'java', host, port }) as const
const lobby = pong('MCPE;Lobby;800;1.21.80;3;20')
const bedrock = () => bedrockServer((reply) => reply(lobby), loopback)
const suggestion = (address: string) => `a Bedrock server answers there; to watch it, set MC_SERVER to bedrock://${address}`

it('names the address of a Bedrock server if TCP is refused, and pings it once', async () => {
  await using server = await bedrock()
  const source = new StatusSource(java(server.port), context)
  const expected = { code: 'refused', hint: suggestion(`${loopback}:${server.port}`) }
  for (let poll = 0; poll < 3; poll++) await expect(source.poll(never())).rejects.toMatchObject(expected)
  expect(server.pings).toHaveLength(1)
})

it('names it if a web server answers', async () => {
  await using server = await bedrock()
  const web = createServer((_request, response) => response.end()).listen(server.port, loopback)
  await once(web, 'listening')
  onTestFinished(() => void web.close())
  const source = new StatusSource(java(server.port), context)
  await expect(source.poll(never())).rejects.toMatchObject({ hint: suggestion(`${loopback}:${server.port}`) })
})

it.skipIf(process.platform !== 'linux')('also tries the port of Bedrock if the port is that of Java', async () => {
  const host = own(92)
  const socket = createSocket('udp4').bind(19_132, host)
  onTestFinished(() => void socket.close())
  socket.on('message', (_ping, from) => socket.send(lobby, from.port, from.address))
  await once(socket, 'listening')
  const source = new StatusSource(java(25_565, host), context)
  await expect(source.poll(never())).rejects.toMatchObject({ code: 'refused', hint: suggestion(`${host}:19132`) })
})

it('waits one second at most, and keeps the usual hint without a reply', async () => {
  await using silent = await bedrockServer(() => {}, loopback)
  const clock = manualClock()
  const source = new StatusSource(java(silent.port), { ...context, clock })
  const failure = source.poll(never()).catch((error: unknown) => error)
  await until(() => silent.pings.length > 0)
  await clock.advance(1_000)
  expect(await failure).toMatchObject({ code: 'refused', hint: undefined })
  expect(clock.pending).toBe(0)
})

it('ends with the poll', async () => {
  await using silent = await bedrockServer(() => {}, loopback)
  const stop = new AbortController()
  const failure = new StatusSource(java(silent.port), context).poll(stop.signal)
  void until(() => silent.pings.length > 0).then(() => stop.abort(new Error('late')))
  await expect(failure).rejects.toMatchObject({ code: 'refused' })
})

it('pings no server that has been reached, also after it goes down', async () => {
  await using server = await bedrock()
  const sockets = new Set<net.Socket>()
  const tcp = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => socket.end(encodeStatus('{"version":{"name":"1.21.11"}}')))
  })
  tcp.listen(server.port, loopback)
  await once(tcp, 'listening')
  const source = new StatusSource(java(server.port), context)
  expect((await source.poll(never())).fields.version).toBe('1.21.11')
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => tcp.close(resolve))
  await expect(source.poll(never())).rejects.toMatchObject({ code: 'refused', hint: undefined })
  expect(server.pings).toEqual([])
})

it.each([
  ['by a probe', { isProbe: true as const }],
  ['through a proxy', { network: { ...systemNetwork, tcpOnly: true as const } }],
])('sends nothing over UDP %s', async (_name, more) => {
  await using server = await bedrock()
  const source = new StatusSource(java(server.port), { ...context, ...more })
  await expect(source.poll(never())).rejects.toMatchObject({ code: 'refused' })
  expect(server.pings).toEqual([])
})

it('is in the log, with the name of the setting in the config file', async () => {
  await using server = await bedrock()
  const log = collectLog()
  const source = new StatusSource(java(server.port), context)
  const watcher = new SourceWatcher({
    ...{ server: 'lobby', settings: { interval: 1_000, timeout: 5_000, staleAfter: 3_000 }, clock: patientClock, log },
    ...{ random: () => 0, settingNames: { MC_SERVER: 'address' } },
    sources: () => ({ list: () => [source], close() {} }),
  })
  onTestFinished(() => watcher.close())
  await watcher.poll()
  expect(log.lines).toEqual([
    expect.stringMatching(/^warn: lobby: status failed \(refused\): .*; a Bedrock server .* set address to bedrock:\/\/127/),
  ])
})
