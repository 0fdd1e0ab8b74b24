import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import net from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { parseGoFlags } from '../../src/commands/mc-monitor/flags.ts'
import { runMcMonitor } from '../../src/commands/mc-monitor/run-mc-monitor.ts'
import { startBedrockDemoServer } from '../../src/demo/bedrock.ts'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { systemClock } from '../../src/util/clock.ts'
import { hostileServer } from '../helpers/hostile-servers.ts'
import { callProgram } from '../helpers/run-program.ts'
import { encodeStatus } from '../helpers/status-packets.ts'
import { until } from '../helpers/until.ts'

const main = join(import.meta.dirname, '../../dist/src/main.js')

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [main, 'mc-monitor', ...args], { env: { PATH: process.env.PATH, ...env } })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  return { child, out: () => out, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, out, err })) }
}
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => callProgram(['mc-monitor', ...args], env)

let demo: DemoServer
beforeAll(async () => {
  demo = await startDemoServer({ motd: 'A server', players: 0 })
})
afterAll(() => demo.close())

const hostOf = () => ['-host', demo.address.host, '--port', String(demo.address.port)] as const

// The expected texts have the form that mc-monitor, built from its source, printed for a demo server.
it('prints the status as mc-monitor does', async () => {
  const { host, port } = demo.address
  expect(await run(['status', ...hostOf()])).toEqual({
    code: 0,
    out: expect.stringMatching(`^${host}:${port} : version=1\\.21\\.11 online=\\d+ max=20 motd='A server'\n$`),
    err: '',
  })
  const env = { MC_HOST: host, MC_PORT: String(port) }
  const json = JSON.parse((await run(['status', '-json'], env)).out)
  expect(Object.keys(json)).toEqual(['host', 'port', 'server_info'])
  expect(json.server_info).toMatchObject({
    version: { name: '1.21.11', protocol: 774 },
    players: { max: 20, Sample: expect.any(Array) },
    description: { text: 'A server', bold: false, color: '', extra: null },
    favicon: expect.stringMatching(/^data:image\/png;base64,/),
  })
  expect((await run(['status', '-show-player-count=true'], env)).out).toMatch(/^\d+\n$/)
})

it.each([
  [['status', '-host', '127.0.0.1', '-port', '1'], {}, 1, /^failed to ping 127\.0\.0\.1:1 : .*[^\n]$/],
  // As for Go, no host is this machine.
  [['status', '-host', '', '-port', '1'], {}, 1, /^failed to ping :1 : localhost:1: connection refused/],
  [['status'], { MC_PORT: 'abc' }, 1, /failed to set from environment variable MC_PORT: parse error/],
  [['status', '-bogus'], {}, 2, /^flag provided but not defined: -bogus\n {2}-host string\n/],
  [['status', '-timeout', '5'], {}, 2, /^invalid value "5" for flag -timeout: parse error\n/],
  [['status', '--help'], {}, 2, /^ {2}-host string\n/],
  [['export-for-prometheus'], {}, 2, /^requires at least one server\n$/],
  [['gather-for-telegraf'], {}, 2, /^requires at least one server\n$/],
  [['bogus'], {}, 2, /^Usage: mc-monitor <flags> <subcommand>/],
] as const)('%j with %j exits with %i', async (args, env, code, err) => {
  const result = await run(args, env)
  expect([result.code, result.out]).toEqual([code, ''])
  expect(result.err).toMatch(err)
})

it('names no host of a Bedrock server if none is given, as for Java', async () => {
  const result = await run(['status-bedrock', '-host', '', '-port', '1'], {})
  expect(result.code).toBe(1)
  expect(result.out).toContain('failed to query bedrock server :1: localhost:1: no reply')
})

it('serves the gauges, and ends at SIGTERM', async () => {
  const address = `${demo.address.host}:${demo.address.port}`
  const running = start(['export-for-prometheus', '-servers', `${address},127.0.0.1:1`], { EXPORT_PORT: '0' })
  await until(() => running.out().includes('exporting metrics'))
  const port = /"address": ":(\d+)"/.exec(running.out())?.[1]
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const labels = `server_edition="java",server_host="127.0.0.1",server_port="${demo.address.port}",server_version="1.21.11"`
  expect(text).toContain(`minecraft_status_healthy{${labels}} 1\n`)
  expect(text).toContain('server_port="1",server_version=""} 0\n')
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

it('replies before the scraper gives up, although a server accepts connections and does not answer', async () => {
  const hung = net.createServer().listen(0, '127.0.0.1')
  await once(hung, 'listening')
  const { port: hungPort } = hung.address() as net.AddressInfo
  const servers = `${demo.address.host}:${demo.address.port},127.0.0.1:${hungPort}`
  const running = start(['export-for-prometheus', '-servers', servers, '-port', '0'])
  try {
    await until(() => running.out().includes('exporting metrics'))
    const port = /"address": ":(\d+)"/.exec(running.out())?.[1]
    const scrape = (seconds?: string) =>
      fetch(`http://127.0.0.1:${port}/metrics`, {
        headers: seconds === undefined ? {} : { 'x-prometheus-scrape-timeout-seconds': seconds },
      })
    // Of clients with other timeouts, one waits for longer, and one reads the servers too briefly.
    const asked = once(hung, 'connection')
    const patient = scrape().catch(() => undefined)
    await asked
    // On a busy machine, the other server may take longer than the scraper waits.
    await until(async () => {
      const [hasty, reply] = await Promise.all([scrape('0.001'), scrape('2')])
      expect(hasty.status).toBe(200)
      const text = await reply.text()
      expect(text).toMatch(new RegExp(`^minecraft_status_healthy{.*server_port="${hungPort}".*} 0$`, 'm'))
      return new RegExp(`^minecraft_status_healthy{.*server_port="${demo.address.port}".*} 1$`, 'm').test(text)
    })
    const wrong = await scrape('0')
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('expected a number of seconds above 0')])
    running.child.kill()
    expect(await patient).toBeUndefined()
  } finally {
    running.child.kill()
    await running.ended
    hung.close()
  }
})

it('sends measurements to Telegraf', async () => {
  let received = ''
  const telegraf = net.createServer((socket) => {
    socket.on('data', (chunk) => {
      received += chunk
    })
  })
  telegraf.listen(0, '127.0.0.1')
  await once(telegraf, 'listening')
  const running = start(['gather-for-telegraf', '-interval', '50ms'], {
    GATHER_SERVERS: `${demo.address.host}:${demo.address.port},127.0.0.1:1`,
    GATHER_TELEGRAF_ADDRESS: `127.0.0.1:${(telegraf.address() as net.AddressInfo).port}`,
  })
  try {
    await until(() => received.split('\n').length > 2)
    expect(received).toMatch(/^minecraft_status,host=127\.0\.0\.1,port=\d+,status=success,version=1\.21\.11 response_time=/)
    expect(received).toMatch(
      /\nminecraft_status,host=127\.0\.0\.1,port=1,status=error error=".*",response_time=[\d.e-]+ \d{19}\n/,
    )
  } finally {
    running.child.kill()
    await running.ended
    telegraf.close()
  }
})

interface Recorded {
  readonly server: string
  readonly args: readonly string[]
  readonly code: number
  readonly out: string
  readonly err: string
}

/** What mc-monitor, built from its source, printed for the servers of the next test; ports and times are replaced. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/mc-monitor/outputs.json'), 'utf8')) as {
  readonly commands: readonly Recorded[]
}

const withStatus = (json: object) =>
  hostileServer(
    (socket) =>
      void socket.once('data', () => {
        socket.write(encodeStatus(JSON.stringify(json)))
        socket.on('data', (ping: Buffer) => void socket.write(ping))
      }),
  )

/** Runs a command in this process. */
async function runHere(args: readonly string[], stop = new AbortController().signal) {
  const texts = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      texts[name] += text
      return true
    }),
  )
  try {
    const code = await runMcMonitor(args, stop)
    return { code, out: texts.stdout, err: texts.stderr }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

it('prints what mc-monitor prints', async () => {
  const version = { name: '1.21.11', protocol: 774 }
  const sample = [{ name: 'Alice', id: 'ec561538-f3fd-461d-aff5-086b22154bce' }]
  const gold = { text: 'A ', bold: true, color: 'gold', extra: [{ text: 'server', color: 'red' }] }
  await using up = await withStatus({
    version: { ...version, name: 'Paper 1.21.11' },
    players: { max: 20, online: 2, sample },
    description: gold,
    favicon: 'data:image/png;base64,AAAA',
  })
  await using plain = await withStatus({ version, players: { max: 20, online: 0 }, description: '§6Gold\nline' })
  await using starting = await withStatus({ version, players: { max: 0, online: 0 }, description: 'x' })
  await using garbage = await hostileServer(
    (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  )
  await using closing = await hostileServer((socket) => void socket.destroy())
  const bedrock = await startBedrockDemoServer({ host: '127.0.0.1', port: 0, players: 3, seed: 1, clock: systemClock })
  const ports = Object.entries({ up, plain, starting, garbage, closing, bedrock: bedrock.address })
  const cleaned = (text: string) =>
    ports
      .reduce((all, [name, { port }]) => all.replaceAll(String(port), `<${name}>`), text)
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  // Differences on purpose: its sentences about errors are its own, and it prints only the first part of a text of several parts,
  // and null for a sample of players that was not sent.
  const comparable = (text: string) =>
    text
      .replace(/(failed to ping \S+ : (?:All attempts fail:\n#1: )?|failed to query bedrock server \S+: )[^"]*/, '$1...')
      .replace('"Sample":null', '"Sample":[]')
      .replace(/motd='(?:A |§6§lA [^']*)'/, 'motd=...')
      .replace(/"description":.*"favicon"/, (found) => (found.includes('server') ? '"description":...' : found))
  try {
    for (const { server, args, code, out, err } of recorded.commands) {
      const own = args.map((arg) => ports.reduce((all, [name, { port }]) => all.replaceAll(`<${name}>`, String(port)), arg))
      const result = await runHere(own.map((arg) => (arg === '1s' ? '20s' : arg)))
      const printed = server === 'usage' ? `${result.err.split('\n')[0]}\n` : result.err
      expect({ args, code: result.code, out: comparable(cleaned(result.out)), err: comparable(cleaned(printed)) }).toEqual({
        ...{ args, code, out: comparable(out), err: comparable(err) },
      })
    }
  } finally {
    await bedrock.close()
  }
})

/** A collector that speaks gRPC over HTTP/2. @param status of each reply, in the trailers */
async function startCollector(status: string) {
  const received: { readonly path: string; readonly type: string; readonly body: Buffer }[] = []
  const server = http2.createServer()
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      received.push({
        path: String(headers[':path']),
        type: String(headers['content-type']),
        body: Buffer.concat(chunks),
      })
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': 'try later' }))
      stream.end(Buffer.alloc(5))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { received, address: `127.0.0.1:${(server.address() as net.AddressInfo).port}` }
}

it('collect-otel sends the gauges to a collector until it is stopped', async () => {
  const { received, address } = await startCollector('0')
  const { host, port } = demo.address
  const flags = ['-servers', `${host}:${port},127.0.0.1:1`, '-interval', '100ms', '-otel-collector-endpoint', address]
  const { child, out, ended } = start(['collect-otel', ...flags])
  await until(() => received.length > 1)
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  expect(out()).toContain(`otel\tadding Java server\t{"host": "${host}", "port": "${port}"}`)
  const [{ path, type, body }] = received as [(typeof received)[number]]
  expect([path, type]).toEqual(['/opentelemetry.proto.collector.metrics.v1.MetricsService/Export', 'application/grpc'])
  expect([body[0], body.readUInt32BE(1)]).toEqual([0, body.length - 5])
  const text = body.toString('latin1')
  const names = ['healthy', 'response_time', 'players_online_count', 'players_max_count'].map(
    (name) => `minecraft_status_${name}`,
  )
  for (const part of [...names, 'server_host', 'server_edition', 'server_version', '1.21.11', String(port)])
    expect(text).toContain(part)
  expect(out()).not.toContain('ERROR')
})

it('collect-otel reports a collector that refuses or does not listen, and goes on', async () => {
  const { received, address } = await startCollector('14')
  const server = ['-servers', `${demo.address.host}:${demo.address.port}`, '-interval', '50ms']
  const refused = start(['collect-otel', ...server, '-otel-collector-endpoint', address])
  await until(() => received.length > 2)
  refused.child.kill('SIGTERM')
  expect((await refused.ended).out).toContain('failed to export metrics\t{"error": "gRPC status 14 try later"}')
  const absent = start(['collect-otel', ...server, '-otel-collector-endpoint', '127.0.0.1:1'])
  await until(() => absent.out().includes('ECONNREFUSED'))
  absent.child.kill('SIGTERM')
  expect((await absent.ended).code).toBe(0)
})

it('waits as long as a timer can for an interval that is longer', () => {
  const flags = [{ name: 'interval', type: 'duration', default: '10s' }] as const
  const ms = (text: string) => parseGoFlags(flags, ['-interval', text], {}).values.duration('interval')
  expect([ms('1m'), ms('720h')]).toEqual([60_000, 2 ** 31 - 1])
})
