import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { formatHostPort } from '../../src/util/address.ts'

const main = join(import.meta.dirname, '../../dist/src/main.js')

async function run(...args: readonly string[]) {
  const child = spawn(process.execPath, [main, ...args], { env: { PATH: process.env.PATH }, cwd: import.meta.dirname })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, out, err }
}

let demo: DemoServer
let service: http.Server
let port = ''
const requested: string[] = []
/** The reply of the service; undefined for none. */
let status: number | undefined

beforeAll(async () => {
  demo = await startDemoServer({})
  service = http.createServer(({ url = '' }, response) => {
    requested.push(url)
    if (status !== undefined) response.writeHead(status).end()
  })
  await once(service.listen(0, '127.0.0.1'), 'listening')
  port = String((service.address() as AddressInfo).port)
})
afterAll(async () => {
  await demo.close()
  service.closeAllConnections()
  service.close()
})

it('checks the service on the port of the settings, below its base path', async () => {
  status = 200
  expect(await run('healthcheck', '--port', port)).toEqual({ code: 0, out: '', err: '' })
  expect(await run('healthcheck', '--port', port, '--ready', '--base-path', '/mc', '--host', '0.0.0.0')).toMatchObject({
    code: 0,
  })
  expect(requested).toEqual(['/healthz', '/mc/readyz'])
  status = 503
  const url = `http://127.0.0.1:${port}/healthz`
  expect(await run('healthcheck', '--port', port)).toEqual({ code: 1, out: '', err: `${url} is not healthy: it answers 503\n` })
  status = undefined
  expect(await run('healthcheck', '--port', port, '--timeout', '200ms')).toEqual({
    code: 1,
    out: '',
    err: `${url} is not healthy: no reply within 200 ms\n`,
  })
  expect(await run('healthcheck', '--port', '1')).toEqual({ code: 1, out: '', err: expect.stringMatching(/ECONNREFUSED.*\n$/) })
})

it('checks a server', async () => {
  expect(await run('healthcheck', formatHostPort(demo.address), '--timeout', '20s')).toEqual({ code: 0, out: '', err: '' })
  expect(await run('healthcheck', '127.0.0.1:1')).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^127\.0\.0\.1:1 is down: .*\n$/),
  })
  expect(await run('healthcheck', '--port', 'x')).toMatchObject({ code: 2 })
})
