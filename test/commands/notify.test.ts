import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import http, { type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startDemoServer } from '../../src/demo/demo-server.ts'
import { formatHostPort } from '../../src/util/address.ts'
import { startService } from '../helpers/replica-process.ts'
import { callProgram } from '../helpers/run-program.ts'
import { until } from '../helpers/until.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-notify-'))
  const created = folder
  onTestFinished(() => rmSync(created, { recursive: true }))
})

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => callProgram(args, env, folder)

async function startReceiver(status: number) {
  const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(status).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

function configure(url: string, allowPrivate = true): void {
  const channels = `  channels:\n    - { type: webhook, name: ops, url: "${url}", secret: "a secret" }\n`
  const servers = 'servers:\n  - { name: survival, address: "127.0.0.1:1" }\n'
  writeFileSync(join(folder, 'tickwarden.yaml'), `${servers}notify:\n  allowPrivate: ${allowPrivate}\n${channels}`)
}

describe('tickwarden notify --test', () => {
  it('sends a signed sample', async () => {
    const { received, url } = await startReceiver(204)
    configure(url)
    const { code, out, err } = await run(['notify', '--test', 'ops', 'up'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('ops')
    const [{ headers, body }] = received as [(typeof received)[number]]
    expect(JSON.parse(body)).toMatchObject({ event: 'up', server: 'survival', error: null, id: expect.any(String) })
    const signature = createHmac('sha256', 'a secret').update(body).digest('hex')
    const timestamped = createHmac('sha256', 'a secret').update(`${headers['x-tickwarden-timestamp']}.${body}`).digest('hex')
    expect([`sha256=${signature}`, `sha256=${timestamped}`]).toContain(headers['x-tickwarden-signature'])
  })

  it.each([
    [['notify', '--test', 'other'], 2, 'unknown channel "other"; the channels are ops'],
    [['notify', '--test', 'ops', 'explosion'], 2, 'explosion'],
    [['notify'], 2, 'notify --test'],
  ])('%j is a mistake', async (args, code, message) => {
    configure('http://127.0.0.1:1/hook')
    expect(await run(args)).toMatchObject({ code, err: expect.stringContaining(message) })
  })

  it('says why a channel did not accept it, and connects to private addresses only if that is allowed', async () => {
    const { received, url } = await startReceiver(404)
    configure(url)
    const refused = await run(['notify', '--test'])
    expect(refused.code).toBe(1)
    expect(refused.out + refused.err).toMatch(/ops.*404/)
    configure(url, false)
    const blocked = await run(['notify', '--test'])
    expect([blocked.code, received.length]).toEqual([1, 1])
    expect(blocked.out + blocked.err).toMatch(/allowPrivate|not allowed|private/)
    expect(blocked.out + blocked.err).not.toContain('a secret')
    rmSync(join(folder, 'tickwarden.yaml'))
    expect((await run(['notify', '--test'])).code).toBe(4)
  })
})

it.each(['DATA_DIR', 'HISTORY_DIR'])('tickwarden maintenance changes a running service with the same %s', async (variable) => {
  const demo = await startDemoServer()
  onTestFinished(() => demo.close())
  const env = { [variable]: folder, MC_SERVER: formatHostPort(demo.address), MC_NAME: 'survival' }
  const service = await startService('survival', undefined, env)
  const maintenance = async () => {
    const text = await (await service.get('/metrics')).text()
    return Number(/^minecraft_maintenance\{server="survival"\} (\d)$/m.exec(text)?.[1])
  }
  await until(async () => (await maintenance()) === 0)
  expect(await run(['maintenance', 'start', 'survival', '--for', '30m', '--reason', 'upgrade'], env)).toMatchObject({ code: 0 })
  await until(async () => (await maintenance()) === 1)
  expect(await run(['maintenance', 'end', 'survival'], env)).toMatchObject({ code: 0 })
  await until(async () => (await maintenance()) === 0)
  expect(await run(['maintenance', 'start', 'survivel'], env)).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('did you mean survival?') },
  })
  expect(await run(['maintenance', 'start', 'survival'])).toMatchObject({ code: 4 })
  const missing = join(folder, 'missing')
  expect(await run(['maintenance', 'start', 'survival'], { [variable]: missing })).toMatchObject({
    ...{ code: 1, err: `${variable} is "${missing}", which does not exist; set it to the ${variable} of the service.\n` },
  })
})

it('notifications are kept beside the history, with and without DATA_DIR', async () => {
  configure('http://127.0.0.1:1/hook')
  const [history, data] = [join(folder, 'history'), join(folder, 'data')]
  const env = { HISTORY_DIR: history, DATA_DIR: data, TICKWARDEN_CONFIG: join(folder, 'tickwarden.yaml') }
  await startService('survival', undefined, env)
  expect(readdirSync(history)).toEqual(expect.arrayContaining(['history.db', 'notify']))
})
