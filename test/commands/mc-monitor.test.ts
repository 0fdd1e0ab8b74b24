import { spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
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
const run = (...given: Parameters<typeof start>) => start(...given).ended

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

it('serves the gauges, and ends at SIGTERM', async () => {
  const address = `${demo.address.host}:${demo.address.port}`
  const running = start(['export-for-prometheus', '-servers', `${address},127.0.0.1:1`], { EXPORT_PORT: '0' })
  await until(() => running.out().includes('exporting metrics'))
  const port = /"address":":(\d+)"/.exec(running.out())?.[1]
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const labels = `server_edition="java",server_host="127.0.0.1",server_port="${demo.address.port}",server_version="1.21.11"`
  expect(text).toContain(`minecraft_status_healthy{${labels}} 1\n`)
  expect(text).toContain('server_port="1",server_version=""} 0\n')
  running.child.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
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
