import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { commands, findCommand } from '../../src/commands/definitions/index.ts'
import { parseArguments } from '../../src/commands/parse-arguments.ts'
import { runHealthcheck } from '../../src/commands/run-healthcheck.ts'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { formatHostPort } from '../../src/util/address.ts'
import { UsageError } from '../../src/util/usage-error.ts'
import { never } from '../helpers/never.ts'

const command = findCommand('healthcheck')!

/** Runs it and returns the code and what it prints, which is only on the standard error. */
async function run(args: readonly string[], stop = never()) {
  const [out, err] = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockReturnValue(true))
  const errors = vi.spyOn(console, 'error').mockReturnValue()
  try {
    const code = await runHealthcheck({ ...(await parseArguments(command, args)), command, commands, stop })
    expect(out).not.toHaveBeenCalled()
    const lines = errors.mock.calls.map(([line]) => `${line}\n`)
    return { code, err: [...lines, ...err!.mock.calls.map(([chunk]) => String(chunk))].join('') }
  } finally {
    vi.restoreAllMocks()
  }
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
  expect(await run(['--port', port])).toEqual({ code: 0, err: '' })
  expect(await run(['--port', port, '--ready', '--base-path', '/mc', '--host', '0.0.0.0'])).toMatchObject({
    code: 0,
  })
  expect(requested).toEqual(['/healthz', '/mc/readyz'])
  status = 503
  const url = `http://127.0.0.1:${port}/healthz`
  expect(await run(['--port', port])).toEqual({ code: 1, err: `${url} is not healthy: it answers 503\n` })
  status = undefined
  expect(await run(['--port', port, '--timeout', '200ms'])).toEqual({
    code: 1,
    err: `${url} is not healthy: no reply within 200 ms\n`,
  })
  expect(await run(['--port', '1'])).toEqual({ code: 1, err: expect.stringMatching(/ECONNREFUSED.*\n$/) })
})

it('checks a server', async () => {
  expect(await run([formatHostPort(demo.address), '--timeout', '20s'])).toEqual({ code: 0, err: '' })
  expect(await run(['127.0.0.1:1'])).toEqual({ code: 1, err: expect.stringMatching(/^127\.0\.0\.1:1 is down: .*\n$/) })
  await expect(run(['--port', 'x'])).rejects.toThrow(UsageError)
})

it('blames nothing when it is stopped', async () => {
  const stop = new AbortController()
  status = undefined
  service.once('request', () => stop.abort(new Error('stopped by SIGINT')))
  await expect(run(['--port', port], stop.signal)).rejects.toThrow('stopped by SIGINT')
})

it('ends with exit code 1 and one line on the standard error', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../dist/src/main.js'), 'healthcheck', '--port', '1'])
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  expect([code, out, err]).toEqual([1, '', expect.stringMatching(/^http:.* is not healthy: .*\n$/)])
})
