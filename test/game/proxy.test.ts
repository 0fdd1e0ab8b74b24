import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startBedrockDemoServer } from '../../src/demo/bedrock.ts'
import { type DemoServer, demoSettings, startDemoServer } from '../../src/demo/demo-server.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { ProxyAddress, ProxyCredentials } from '../../src/game/proxy.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { selfSigned } from '../helpers/certificate.ts'
import { hostileServer } from '../helpers/hostile-servers.ts'
import { startJavaServer } from '../helpers/jolokia.ts'
import { managementServer } from '../helpers/management-server.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort, runTool } from '../helpers/run-tool.ts'
import { encodeStatus } from '../helpers/status-packets.ts'

const credentials: ProxyCredentials = { user: 'watcher', password: 's3cret' }
const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }

async function startDemo(): Promise<DemoServer> {
  const demo = await startDemoServer({ players: 3 })
  onTestFinished(demo.close)
  return demo
}

/** The replies of a proxy that connects to every server, in the order of the requests. */
const proxyReplies = {
  socks5: ['0500', '05000001000000000000'].map((hex) => Buffer.from(hex, 'hex')),
  http: [Buffer.from('HTTP/1.1 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n')],
}

/** The outcome of one poll of each source of the server: the fields it read, or the code of its error. */
async function pollAll(settings: ServerSettings) {
  const sources = createSources(settings, context)
  try {
    const polls = sources.list().map(async (source) => {
      const outcome = source.poll(AbortSignal.timeout(60_000)).then(
        ({ fields }) => fields,
        ({ code, message }) => ({ code, message }),
      )
      return [source.name, await outcome] as const
    })
    return Object.fromEntries(await Promise.all(polls))
  } finally {
    sources.close()
  }
}

async function microsocks(port: number, withCredentials: boolean): Promise<AsyncDisposable> {
  const login = withCredentials ? ['-u', credentials.user, '-P', credentials.password] : []
  return runTool('microsocks', ['-i', '127.0.0.1', '-p', String(port), ...login], port)
}

async function tinyproxy(port: number, withCredentials: boolean): Promise<AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), 'tinyproxy-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'tinyproxy.conf')
  const login = withCredentials ? `BasicAuth ${credentials.user} ${credentials.password}\n` : ''
  writeFileSync(file, `Port ${port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\nLogLevel Critical\n${login}`)
  return runTool('tinyproxy', ['-d', '-c', file], port)
}

describe.each([
  ['socks5', 'microsocks', microsocks],
  ['http', 'tinyproxy', tinyproxy],
] as const)('through %s', (protocol, program, start) => {
  const via = (port: number): ProxyAddress => ({ protocol, host: '127.0.0.1', port })

  it.skipIf(!hasTool(program)).each([false, true])(
    `${program} (with credentials: %s) every TCP source is read`,
    async (withCredentials) => {
      const demo = await startDemo()
      const port = await freePort()
      await using _ = await start(port, withCredentials)
      const login = withCredentials ? { viaCredentials: credentials } : {}
      const read = await pollAll({ ...demoSettings(demo, 'demo'), via: via(port), ...login })
      expect(read).toMatchObject({
        status: { version: '1.21.11', playersOnline: 3, latency: expect.any(Number) },
        rcon: { playersOnline: 3 },
        management: { playersOnline: 3 },
        query: { code: 'unsupported' },
      })
    },
  )

  it.skipIf(!hasTool(program)).each([false, true])(
    `${program} (with credentials: %s) a Bedrock server is read by NetherNet, and RakNet is left out`,
    async (withCredentials) => {
      const options = { host: '127.0.0.1', port: 0, clock: systemClock, players: 3, seed: 1 }
      const demo = await startBedrockDemoServer(options)
      onTestFinished(demo.close)
      const port = await freePort()
      await using _ = await start(port, withCredentials)
      const login = withCredentials ? { viaCredentials: credentials } : {}
      const settings = { name: 'a', sources: { status: { address: demo.address } }, via: via(port), ...login }
      const { status } = await pollAll(settings)
      expect(status).toMatchObject({ transport: 'nethernet', version: '1.26.60', playersOnline: 3 })
      await demo.close()
      // The code is that of NetherNet, which alone was tried.
      const down = (await pollAll(settings)).status as { code: string; message: string }
      expect(['refused', 'unreachable']).toContain(down.code)
      expect(down.message).toMatch(
        /RakNet \(UDP\): UDP is not supported through a proxy \(MC_VIA\); NetherNet \(TCP\): through the proxy/,
      )
    },
  )

  it.skipIf(!hasTool(program) || !hasTool('javac') || !hasTool('mvn'))(`${program} JMX is read`, async () => {
    await using jvm = await startJavaServer('full', 'user=agent,password=s3cret')
    const port = await freePort()
    await using _ = await start(port, true)
    const settings = { name: 'a', via: via(port), viaCredentials: credentials }
    const jmx = { url: jvm.url, user: 'agent', password: 's3cret' }
    const read = await pollAll({ ...settings, sources: { jmx } })
    expect(read.jmx).toMatchObject({ tickDurationP50: 0.05, jvmThreads: expect.any(Number) })
    // The credentials of the agent, not those of the proxy.
    const wrong = await pollAll({ ...settings, sources: { jmx: { ...jmx, password: 'wrong' } } })
    expect(wrong.jmx).toMatchObject({ code: 'auth', message: expect.stringContaining('401') })
    const dead = `http://127.0.0.1:${await freePort()}/jolokia`
    const down = await pollAll({ ...settings, sources: { jmx: { url: dead } } })
    expect(down.jmx).toMatchObject({ message: expect.stringContaining(`through the proxy ${protocol}://127.0.0.1:${port}`) })
    const other = await pollAll({ ...settings, viaCredentials: { user: 'watcher', password: 'no' }, sources: { jmx } })
    expect(other.jmx).toMatchObject({ code: 'auth', message: expect.stringContaining('through the proxy') })
  })

  it.skipIf(!hasTool(program) || !hasTool('openssl'))(`${program} TLS is spoken with the server itself`, async () => {
    const { key, cert, fingerprint } = selfSigned()
    const server = await managementServer({ key, cert })
    onTestFinished(server.close)
    const port = await freePort()
    await using _ = await start(port, false)
    const settings = { name: 'a', via: via(port) }
    const management = { url: server.url, secret: server.secret }
    const pinned = await pollAll({ ...settings, sources: { management: { ...management, fingerprint } } })
    expect(pinned.management).toMatchObject({ playersOnline: expect.any(Number) })
    const untrusted = await pollAll({ ...settings, sources: { management } })
    expect(untrusted.management).toMatchObject({ code: 'tls' })
    const jmx = { url: server.url.replace('wss:', 'https:') }
    expect((await pollAll({ ...settings, sources: { jmx } })).jmx).toMatchObject({ code: 'tls' })
  })

  it.skipIf(!hasTool(program))(`${program} resolves the name`, async () => {
    const demo = await startDemo()
    const port = await freePort()
    await using _ = await start(port, false)
    const lookup = () => Promise.reject(Object.assign(new Error('not resolved here'), { code: 'ENOTFOUND' }))
    const { systemNetwork } = await import('../../src/game/network.ts')
    const network = { ...systemNetwork, lookup }
    const address = { ...demo.address, host: 'localhost' }
    const sources = createSources({ name: 'a', sources: { status: { address } }, via: via(port) }, { ...context, network })
    const [status] = sources.list()
    expect((await status?.poll(AbortSignal.timeout(60_000)))?.fields).toMatchObject({ playersOnline: 3 })
    sources.close()
  })

  it.skipIf(!hasTool(program))(`${program} refuses wrong credentials`, async () => {
    const demo = await startDemo()
    const port = await freePort()
    await using _ = await start(port, true)
    for (const login of [{}, { viaCredentials: { user: 'watcher', password: 'wrong' } }]) {
      const read = await pollAll({ name: 'a', sources: { status: { address: demo.address } }, via: via(port), ...login })
      expect(read.status).toMatchObject({ code: 'auth', message: expect.stringContaining(`${protocol}://127.0.0.1:${port}`) })
      expect(JSON.stringify(read)).not.toContain('wrong')
    }
  })

  it.skipIf(!hasTool(program))(`${program} cannot reach a server that is down`, async () => {
    const port = await freePort()
    await using _ = await start(port, false)
    const address = { edition: 'java', host: '127.0.0.1', port: await freePort() } as const
    const read = await pollAll({ name: 'a', sources: { status: { address } }, via: via(port) })
    expect(['refused', 'unreachable']).toContain((read.status as { code: string }).code)
  })

  it('a proxy that is down is refused, one that is silent times out, and no socket stays open', async () => {
    const demo = await startDemo()
    const settings = { name: 'a', sources: { status: { address: demo.address } } }
    const refused = await pollAll({ ...settings, via: via(await freePort()) })
    expect(refused.status).toMatchObject({ code: 'refused' })
    await using silent = await hostileServer((socket) => void socket.resume())
    const sources = createSources({ ...settings, via: via(silent.port) }, context)
    const reason = new Error('deadline')
    const controller = new AbortController()
    const poll = sources.list()[0]?.poll(controller.signal)
    await expect.poll(silent.open).toBe(1)
    controller.abort(reason)
    await expect(poll).rejects.toMatchObject({ message: expect.stringContaining('deadline') })
    await expect.poll(silent.open).toBe(0)
    sources.close()
  })

  it.each([
    ['mc.example', undefined],
    ['192.0.2.7', '192.0.2.7'],
  ])('the address of %s is not that of the proxy', async (host, ip) => {
    const [...replies] = proxyReplies[protocol]
    await using proxy = await hostileServer((socket) =>
      socket.on('data', () => socket.write(replies.shift() ?? encodeStatus('{"players":{"online":7,"max":20}}'))),
    )
    const address = { edition: 'java', host, port: 25565 } as const
    const { status } = await pollAll({ name: 'a', sources: { status: { address } }, via: via(proxy.port) })
    expect(status).toMatchObject({ playersOnline: 7, port: 25565 })
    expect((status as { ip?: string }).ip).toBe(ip)
  })

  it('a legacy server that hangs has been connected', async () => {
    const text = Buffer.from('§1\x0061\x001.5.2\0A Server\x007\x0020', 'utf16le').swap16()
    let [isHung, hungRequests] = [false, 0]
    await using proxy = await hostileServer((socket) => {
      const [...replies] = proxyReplies[protocol]
      socket.on('data', (bytes) => {
        const reply = replies.shift()
        if (reply !== undefined) socket.write(reply)
        else if (bytes[0] !== 0xfe) socket.end()
        else if (isHung) hungRequests++
        else socket.end(Buffer.concat([Buffer.of(0xff, 0, text.length / 2), text]))
      })
    })
    const address = { edition: 'java', host: 'mc.example', port: 25565 } as const
    const sources = createSources({ name: 'a', sources: { status: { address } }, via: via(proxy.port) }, context)
    const [status] = sources.list()
    expect((await status?.poll(AbortSignal.timeout(60_000)))?.fields).toMatchObject({ playersOnline: 7 })
    isHung = true
    const deadline = new AbortController()
    const hung = expect(status?.poll(deadline.signal)).rejects.toMatchObject({ code: 'timeout', progress: 'connected' })
    await expect.poll(() => hungRequests).toBeGreaterThan(0)
    deadline.abort(new SourceError('timeout', 'late'))
    await hung
    sources.close()
  })

  it('a server that is not a proxy is unsupported', async () => {
    const demo = await startDemo()
    await using other = await hostileServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')))
    const read = await pollAll({ name: 'a', sources: { status: { address: demo.address } }, via: via(other.port) })
    expect(read.status).toMatchObject({ code: 'unsupported' })
  })
  it.each(['at once', 'byte by byte'])(
    'reads data that the server sends immediately after the reply of the proxy, %s',
    async (how) => {
      const [...replies] = proxyReplies[protocol]
      replies.push(Buffer.concat([replies.pop()!, encodeStatus('{"players":{"online":7,"max":20}}')]))
      await using proxy = await hostileServer((socket) => {
        socket.setNoDelay(true)
        socket.on('data', async () => {
          const reply = replies.shift()
          if (how === 'at once') socket.write(reply ?? '')
          else
            for (const byte of reply ?? []) await new Promise((done) => socket.write(Buffer.of(byte), () => setImmediate(done)))
        })
      })
      const address = { edition: 'java', host: 'mc.example', port: 25565 } as const
      const read = await pollAll({ name: 'a', sources: { status: { address } }, via: via(proxy.port) })
      expect(read.status).toMatchObject({ playersOnline: 7 })
    },
  )
})
