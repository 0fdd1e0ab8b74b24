import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createAllowList } from '../../exporter/probe/allow-list.ts'
import { probeTimeout } from '../../exporter/probe/timeout.ts'
import type { ExporterOptions } from '../../exporter/register.ts'
import { loadConfig } from '../../src/config/config.ts'
import { type DemoServer, demoSettings, startDemoServer } from '../../src/demo/demo-server.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { createSystemResolver, type Resolver } from '../../src/game/names/system-resolver.ts'
import { createNetwork, type Network, systemNetwork } from '../../src/game/network.ts'
import type { SrvRecord } from '../../src/game/protocol/srv.ts'
import { FrameReader } from '../../src/game/protocol/status/frames.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { systemClock } from '../../src/util/clock.ts'
import { createHistogram } from '../../src/util/histogram.ts'
import { silentLog } from '../../src/util/log.ts'
import { dnsServer } from '../helpers/dns-server.ts'
import { cpuMs } from '../helpers/growth.ts'
import { hostileServer } from '../helpers/hostile-servers.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { type MetricsService, parseSamples, startMetricsService } from '../helpers/metrics-service.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freePort } from '../helpers/run-tool.ts'
import { decodeHandshake, encodeStatus } from '../helpers/status-packets.ts'
import { until } from '../helpers/until.ts'

const publicAddress = '93.184.216.34'
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A network with the names and addresses of a test; every connection goes to the demo server. */
function scriptedNetwork(names: Record<string, string[][]>, port: () => number, srv: Record<string, SrvRecord[]> = {}) {
  const lookups: string[] = []
  const connections: string[] = []
  const network: Network = {
    async lookup(host) {
      lookups.push(host)
      const answers = names[host]
      const answer = answers && (answers.length > 1 ? answers.shift() : answers[0])
      if (answer === undefined) throw Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' })
      return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    async resolveSrv(name) {
      const records = srv[name]
      if (records === undefined) throw Object.assign(new Error('none'), { code: 'ENODATA' })
      return records
    },
    doubt() {},
    connect(addresses, _port, signal) {
      connections.push(...addresses.map(({ address }) => address))
      return systemNetwork.connect([{ address: '127.0.0.1', family: 4 }], port(), signal)
    },
  }
  return { network, lookups, connections }
}

async function startProbe(
  servers: readonly ServerSettings[],
  env: Record<string, string> = {},
  options: Partial<ExporterOptions> = {},
): Promise<MetricsService> {
  const { poll } = loadConfig({ env: {} })
  const fleet = createFleet({ servers, poll, clock: options.clock ?? systemClock, log: silentLog, createSources })
  const service = await startMetricsService(fleet, { env, ...options })
  closers.push(service.close)
  return service
}

async function startDemo(): Promise<DemoServer> {
  const demo = await startDemoServer({ players: 3 })
  closers.push(demo.close)
  return demo
}

/** A server that accepts and never answers. */
async function startSilent(): Promise<{ server: Server; port: number; sockets: Socket[] }> {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  return { server, port: (server.address() as AddressInfo).port, sockets }
}

const silentSettings = (name: string, port: number): ServerSettings => ({
  name,
  sources: { status: { address: { host: '127.0.0.1', port, edition: 'java' } } },
})

describe('/probe', () => {
  it('polls a watched server by name, address or host, without the label server', async () => {
    const demo = await startDemo()
    const service = await startProbe([demoSettings(demo, 'my server')])
    for (const target of ['my server', `127.0.0.1:${demo.address.port}`, '127.0.0.1']) {
      const reply = await service.get(`/probe?target=${encodeURIComponent(target)}`)
      const text = await reply.text()
      expect(reply.status).toBe(200)
      expect(text).toContain('\nminecraft_up 1\n')
      expect(text).toContain('\nminecraft_players_online ')
      expect(text).toContain('\nprobe_success 1\n')
      expect(text).toMatch(/^probe_duration_seconds \d/m)
      expect(text).not.toMatch(/server=|process_|nodejs_|_joins_total|minecraft_polls_total|tickwarden_/)
      const series = parseSamples(text).map(({ name, labels }) => name + labels)
      expect(new Set(series).size).toBe(series.length)
    }
  })

  it('has the maintenance of a watched server, which mutes its alerts, and not of another address', async () => {
    const [demo, other] = await Promise.all([startDemo(), startDemo()])
    const servers = [demoSettings(demo, 'maintained'), demoSettings(other, 'other')]
    const maintenanceOf = (server: string) => (server === 'maintained' ? { reason: 'upgrade', until: 0 } : null)
    const service = await startProbe(servers, { PROBE_ALLOW: '127.0.0.0/8' }, { maintenanceOf })
    const maintenance = async (target: string) =>
      /^minecraft_maintenance (.*)$/m.exec(await service.text(`/probe?target=${target}`))?.[1]
    expect(await maintenance('maintained')).toBe('1')
    expect(await maintenance('other')).toBe('0')
    expect(await maintenance('127.0.0.1:1')).toBeUndefined()
  })

  it('sends the headers of metrics, also for HEAD', async () => {
    const demo = await startDemo()
    const service = await startProbe([demoSettings(demo, 'demo')])
    for (const accept of ['text/plain;version=0.0.4', 'application/openmetrics-text;version=1.0.0']) {
      const reply = await service.get('/probe?target=demo', { accept })
      const bytes = Buffer.from(await reply.arrayBuffer())
      const expected = { 'cache-control': 'no-store', vary: 'Accept, Accept-Encoding', 'x-content-type-options': 'nosniff' }
      expect(Object.fromEntries(reply.headers)).toMatchObject({ ...expected, 'content-length': String(bytes.length) })
      expect(reply.headers.get('content-type')).toContain(accept.replace(';', '; '))
      const head = await fetch(`${service.url}/probe?target=demo`, { method: 'HEAD', headers: { accept } })
      expect(Object.fromEntries(head.headers)).toMatchObject(expected)
      expect(head.status).toBe(200)
      expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1_000)
      expect(await head.text()).toBe('')
    }
  })

  it('polls a server that is configured by its directory alone by the name from /sd, and not by its address', async () => {
    const demo = await startDemo()
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-probe-'))
    closers.push(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'server.properties'), `server-ip=127.0.0.1\nserver-port=${demo.address.port}\n`)
    const { servers } = loadConfig({ env: { MC_DIRECTORY: folder, MC_NAME: 'local' } })
    const service = await startProbe(servers)
    const [group] = (await (await service.get('/sd')).json()) as { targets: string[] }[]
    const reply = await service.get(`/probe?target=${group?.targets[0]}`)
    expect(reply.status).toBe(200)
    const text = await reply.text()
    expect(text).toContain('\nminecraft_up 1\n')
    expect(text).toContain('\nminecraft_players_online 3\n')
    expect((await service.get(`/probe?target=127.0.0.1:${demo.address.port}`)).status).toBe(403)
    rmSync(join(folder, 'server.properties'))
    // Nothing connects to it any more, so that it is unknown.
    const unknown = await service.text('/probe?target=local')
    expect(unknown).toContain('\nprobe_success 0\n')
    expect(unknown).not.toContain('\nminecraft_up ')
  })

  describe('with hostname', () => {
    /** A proxy that routes one name, like mc-router, and the host names of the handshakes. */
    async function startRouter(known: string) {
      const hosts: string[] = []
      const router = await hostileServer((socket) => {
        socket.once('data', (chunk: Buffer) => {
          const frames = new FrameReader()
          frames.push(chunk)
          // A legacy request and a TLS handshake have no frame.
          const frame = chunk[0] === 0xfe || chunk[0] === 0x16 ? undefined : frames.next()
          if (frame === undefined) return void socket.destroy()
          const { host } = decodeHandshake(frame)
          hosts.push(host)
          if (host === known) socket.end(encodeStatus('{"players":{"online":7,"max":20}}'))
          else socket.destroy()
        })
      })
      closers.push(() => router[Symbol.asyncDispose]())
      return { port: router.port, hosts }
    }

    it('polls a watched server by that name, whatever its configuration', async () => {
      const { port, hosts } = await startRouter('lobby.example.org')
      const address = { edition: 'java', host: '127.0.0.1', port } as const
      const service = await startProbe([
        { name: 'bare', sources: { status: { address } } },
        { name: 'named', sources: { status: { address, hostname: 'other.example.org' } } },
      ])
      for (const target of ['bare', 'named']) {
        expect(await service.text(`/probe?target=${target}`)).toContain('\nminecraft_up 0\n')
        const text = await service.text(`/probe?target=${target}&hostname=lobby.example.org`)
        expect(text).toContain('\nminecraft_up 1\n')
        expect(text).toContain('\nminecraft_players_online 7\n')
      }
      expect(new Set(hosts)).toEqual(new Set(['127.0.0.1', 'lobby.example.org', 'other.example.org']))
      // The watched server itself has not changed.
      expect(await service.text('/probe?target=bare')).toContain('\nminecraft_up 0\n')
    })

    it('polls an address that PROBE_ALLOW covers, regardless of the name', async () => {
      const { port, hosts } = await startRouter('internal.example.org')
      const service = await startProbe([], { PROBE_ALLOW: '127.0.0.0/8' })
      const probe = (target: string) => service.get(`/probe?target=${target}&hostname=internal.example.org`)
      expect(await (await probe(`127.0.0.1:${port}`)).text()).toContain('\nminecraft_up 1\n')
      expect(hosts).toEqual(['internal.example.org'])
      expect((await probe('192.0.2.1')).status).toBe(403)
    })

    it.each([
      ['bare&hostname=a%20b', '"a b"'],
      ['bare&hostname=', '""'],
      ['bare&hostname=a.example:25565', '"a.example:25565"'],
      [`bare&hostname=${'a.'.repeat(127)}org`, 'a host name'],
      ['bare&hostname=a&hostname=b', 'hostname'],
      ['bedrock&hostname=a.example', 'Bedrock'],
      ['bedrock://127.0.0.1:1&hostname=a.example', 'Bedrock'],
    ])('refuses target=%s', async (parameters, part) => {
      const java = { edition: 'java', host: '127.0.0.1', port: 1 } as const
      const service = await startProbe(
        [
          { name: 'bare', sources: { status: { address: java } } },
          { name: 'bedrock', sources: { status: { address: { ...java, edition: 'bedrock' } } } },
        ],
        { PROBE_ALLOW: '127.0.0.1' },
      )
      const reply = await service.get(`/probe?target=${parameters}`)
      expect(reply.status).toBe(400)
      const problem = (await reply.json()) as { code: string; detail: string }
      expect(problem).toMatchObject({ code: 'INVALID_PARAMETER', detail: expect.stringContaining('"hostname"') })
      expect(problem.detail).toContain(part)
    })
  })

  it.skipIf(!hasTool('promtool'))('passes promtool check metrics', async () => {
    const service = await startProbe([demoSettings(await startDemo(), 'demo')])
    const input = await service.text('/probe?target=demo')
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' })
  })

  it('answers 200 for a server that is down', async () => {
    const demo = await startDemo()
    const service = await startProbe([{ name: 'demo', sources: { status: { address: demo.address } } }])
    await demo.close()
    const reply = await service.get('/probe?target=demo', { accept: 'application/openmetrics-text' })
    expect(reply.status).toBe(200)
    const text = await reply.text()
    expect(text).toContain('\nminecraft_up 0\n')
    expect(text).toContain('\nminecraft_source_up{source="status"} 0\n')
    expect(text).toContain('\nprobe_success 0\n')
    expect(text.endsWith('\n# EOF\n')).toBe(true)
  })

  it.each([
    ['/probe', /"target" is missing/],
    ['/probe?target=', /"target" is ""/],
    ['/probe?target=a&target=b', /given 2 times/],
    [
      '/probe?target=http://example.org',
      /^Parameter "target" is "http:\/\/example.org"; expected the name of a watched server, /,
    ],
    ['/probe?target=a.example:99999', /"target" is "a.example:99999"; expected /],
    ['/probe?target=a.example&debug=yes', /"debug" is "yes"/],
  ])('answers 400 to %s', async (path, detail) => {
    const service = await startProbe([])
    const reply = await service.get(path)
    expect(reply.status).toBe(400)
    expect(reply.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
    expect(await reply.json()).toMatchObject({ code: 'INVALID_PARAMETER', detail: expect.stringMatching(detail) })
  })

  it('names the watched servers of a host that several of them have', async () => {
    const phones = { status: { address: { host: '127.0.0.1', port: 2, edition: 'bedrock' } } } as const
    const other = { status: { address: { host: '127.0.0.2', port: 1, edition: 'java' } } } as const
    const service = await startProbe([
      silentSettings('survival', 1),
      ...[
        { name: 'phones', sources: phones },
        { name: 'other', sources: other },
        { name: 'local', sources: {} },
      ],
    ])
    const reply = await service.get('/probe?target=127.0.0.1')
    expect([reply.status, await reply.json()]).toMatchObject([
      403,
      { detail: expect.stringContaining('(/sd lists them; on this host "survival", "phones") or') },
    ])
  })

  it('does not resolve a name that the list cannot allow', async () => {
    const { network, lookups, connections } = scriptedNetwork({ 'mc.example.com': [[publicAddress]] }, () => 1)
    const service = await startProbe([], { PROBE_ALLOW: '*.example.org' }, { network })
    const reply = await service.get('/probe?target=mc.example.com')
    expect(reply.status).toBe(403)
    expect(await reply.json()).toMatchObject({
      code: 'TARGET_NOT_ALLOWED',
      detail: expect.stringMatching(
        /^Parameter "target" is "mc.example.com"; expected a watched server .* PROBE_ALLOW covers\.$/,
      ),
    })
    expect([...lookups, ...connections]).toEqual([])
  })

  it.each([
    ['*.example.org', 'mc.example.org', publicAddress, 200],
    ['*.example.org', 'mc.example.org', '10.0.0.1', 403],
    ['*.example.org', 'mc.example.org', '127.0.0.1', 403],
    ['*.example.org', 'mc.example.org', '169.254.169.254', 403],
    ['*.example.org', 'mc.example.org', '::ffff:10.0.0.1', 403],
    ['*.example.org', 'mc.example.org', '::a00:1', 403],
    ['*.example.org,10.0.0.0/8', 'mc.example.org', '10.0.0.1', 200],
    ['10.0.0.0/8', 'anything.example', '10.200.3.4', 200],
    ['10.0.0.0/8', 'anything.example', publicAddress, 403],
    ['fd00::/8', 'anything.example', 'fd00::1', 200],
    ['127.0.0.1', '127.0.0.1', '', 200],
    ['*', '127.0.0.1', '', 403],
    ['*', '[::1]', '', 403],
    ['*', publicAddress, '', 200],
  ])('with PROBE_ALLOW=%s a probe of %s at %s gets %d', async (allow, host, address, status) => {
    const demo = await startDemo()
    const { network, connections } = scriptedNetwork({ [host]: [[address]] }, () => demo.address.port)
    const service = await startProbe([], { PROBE_ALLOW: allow }, { network })
    const reply = await service.get(`/probe?target=${encodeURIComponent(`${host}:25566`)}`)
    expect(reply.status).toBe(status)
    expect(connections).toEqual(status === 200 ? [address === '' ? host : address] : [])
    if (status === 200) expect(await reply.text()).toContain('\nminecraft_up 1\n')
  })

  it('connects to the address that was checked, even if the name resolves to another one later', async () => {
    const demo = await startDemo()
    const names = { 'mc.example.org': [[publicAddress], ['127.0.0.1']] }
    const { network, lookups, connections } = scriptedNetwork(names, () => demo.address.port)
    const service = await startProbe([], { PROBE_ALLOW: '*.example.org' }, { network })
    expect((await service.get('/probe?target=mc.example.org:25566')).status).toBe(200)
    expect(lookups).toEqual(['mc.example.org'])
    expect(connections).toEqual([publicAddress])
    expect((await service.get('/probe?target=mc.example.org:25566')).status).toBe(403)
    expect(connections).toEqual([publicAddress])
  })

  it('checks SRV targets and every address of a name too', async () => {
    const names = { 'inside.example.org': [['10.0.0.1']], 'both.example.org': [[publicAddress, '192.168.1.1']] }
    const srv = { '_minecraft._tcp.mc.example.org': [{ name: 'inside.example.org', port: 25565, priority: 0, weight: 0 }] }
    const { network, connections } = scriptedNetwork(names, () => 1, srv)
    const service = await startProbe([], { PROBE_ALLOW: '*.example.org' }, { network })
    expect((await service.get('/probe?target=mc.example.org')).status).toBe(403)
    const both = await service.get('/probe?target=both.example.org:25566')
    expect(both.status).toBe(403)
    expect(await both.json()).toMatchObject({
      detail: expect.stringContaining('"target" is "both.example.org:25566"; expected '),
    })
    expect((await service.get('/probe?target=bedrock://inside.example.org')).status).toBe(403)
    expect((await service.get('/probe?target=bedrock://10.0.0.1')).status).toBe(403)
    expect(connections).toEqual([])
  })

  it('never reveals the address that it refuses', async () => {
    const demo = await startDemo()
    const names = {
      'inside.example.org': [['10.11.12.13']],
      'outside.example.org': [[publicAddress]],
      'private.example.org': [['10.11.12.13']],
    }
    const record = (name: string, priority: number) => ({ name, port: 25565, priority, weight: 0 })
    const srv = { '_minecraft._tcp.mc.example.org': [record('inside.example.org', 0), record('outside.example.org', 1)] }
    const { network } = scriptedNetwork(names, () => demo.address.port, srv)
    const service = await startProbe([], { PROBE_ALLOW: '*.example.org' }, { network })
    const debug = await service.get('/probe?target=mc.example.org&debug=true')
    expect(debug.status).toBe(200)
    const refused = await service.get('/probe?target=private.example.org:25566&debug=true')
    expect(refused.status).toBe(403)
    const texts = [await debug.text(), await refused.text()]
    expect(texts[0]).toContain(publicAddress)
    expect(texts.join()).not.toContain('10.11.12.13')
  })

  it.each(['', '&debug=true'])('looks up SRV records again if they lead to no server%s', async (parameters) => {
    const demo = await startDemo()
    const ports = [await freePort()]
    const clock = manualClock()
    const resolver: Resolver = {
      addresses: async () => ({ value: [{ address: '127.0.0.1', family: 4 }] }),
      srv: async () => ({
        value: [{ name: 'node.example.org', port: ports.shift() ?? demo.address.port, priority: 0, weight: 0 }],
        ttlSeconds: 600,
      }),
      close() {},
    }
    const network = createNetwork({ clock, servers: 1, resolver })
    const service = await startProbe([], { PROBE_ALLOW: '*.example.org,127.0.0.1' }, { network })
    const probe = () => service.text(`/probe?target=mc.example.org${parameters}`)
    expect(await probe()).toContain('\nminecraft_up 0\n')
    await clock.advance(30_000)
    expect(await probe()).toContain('\nminecraft_up 1\n')
  })

  it('caches names and SRV records, which the metrics of the service show', async () => {
    const demo = await startDemo()
    await using dns = await dnsServer((name, type) => {
      if (type === 'SRV') return [{ ttl: 60, data: { port: demo.address.port, target: 'node.example.org' } }]
      return type === 'A' && name === 'node.example.org' ? [{ ttl: 60, data: '127.0.0.1' }] : []
    })
    const nameLookups = createHistogram()
    const resolver = createSystemResolver({ clock: systemClock, nameServers: [dns.address] })
    const network = createNetwork({ clock: systemClock, servers: 1, resolver, onLookup: nameLookups.observe })
    const service = await startProbe([], { PROBE_ALLOW: '*.example.org,127.0.0.1' }, { network, nameLookups })
    const probe = async () => expect(await service.text('/probe?target=mc.example.org')).toContain('\nminecraft_up 1\n')
    await probe()
    // On a busy machine, a query whose reply was late is sent again.
    const queries = [...dns.queries]
    const expected = ['A node.example.org', 'AAAA node.example.org', 'SRV _minecraft._tcp.mc.example.org']
    expect(new Set(queries)).toEqual(new Set(expected))
    for (let again = 0; again < 2; again++) await probe()
    expect(dns.queries).toEqual(queries)
    expect(await service.text('/metrics')).toContain('\ntickwarden_name_lookup_duration_seconds_count 2\n')
  })

  it('has the duration of each phase of each source', async () => {
    const demo = await startDemo()
    const service = await startProbe([demoSettings(demo, 'demo')])
    const series = parseSamples(await service.text('/probe?target=demo')).filter(
      ({ name }) => name === 'minecraft_source_phase_duration_seconds',
    )
    const tcp = ['resolve', 'connect', 'first_byte', 'read']
    const expected = { status: tcp, rcon: tcp, management: tcp, query: ['resolve', 'first_byte', 'read'] }
    expect(series.map(({ labels }) => labels).toSorted()).toEqual(
      Object.entries(expected)
        .flatMap(([source, phases]) => phases.map((phase) => `{source="${source}",phase="${phase}"}`))
        .toSorted(),
    )
    for (const { value } of series) expect(value).toBeGreaterThanOrEqual(0)
  })

  it('meets its deadline with a directory on a disk that hangs and a server that is silent', async () => {
    const { port } = await startSilent()
    const { poll } = loadConfig({ env: {} })
    const createHungSources: typeof createSources = (server, context) =>
      Object.assign(createSources(server, context), server.name === 'hung' && { refresh: () => new Promise<never>(() => {}) })
    const servers = [silentSettings('hung', port), silentSettings('silent', port)]
    const fleet = createFleet({ servers, poll, clock: systemClock, log: silentLog, createSources: createHungSources })
    const service = await startMetricsService(fleet)
    closers.push(service.close)
    const probe = (name: string) => service.text(`/probe?target=${name}`, { 'x-prometheus-scrape-timeout-seconds': '3.5' })
    let hasEnded = false
    const hung = probe('hung').then((text) => {
      hasEnded = true
      return text
    })
    // Two timeouts, one after the other.
    await probe('silent')
    await probe('silent')
    expect(hasEnded).toBe(true)
    expect(await hung).toContain('\nprobe_success 0\n')
  })

  it('stops in time for the scraper, and closes the connection', async () => {
    const { port, sockets } = await startSilent()
    const clock = manualClock()
    const service = await startProbe([silentSettings('silent', port)], { POLL_TIMEOUT: '60s' }, { clock })
    let hasEnded = false
    const patient = new AbortController()
    const later = fetch(`${service.url}/probe?target=silent`, {
      ...{ headers: { 'x-prometheus-scrape-timeout-seconds': '60' }, signal: patient.signal },
    }).then(
      () => (hasEnded = true),
      () => {},
    )
    const reply = service.text('/probe?target=silent', { 'x-prometheus-scrape-timeout-seconds': '0.7' })
    await until(() => sockets.length === 2)
    await clock.advance(350)
    const text = await reply
    expect(hasEnded).toBe(false)
    expect(text).toContain('\nminecraft_up 0\n')
    expect(text).toContain('\nminecraft_source_phase_duration_seconds{source="status",phase="connect"} ')
    expect(text).not.toContain('phase="first_byte"')
    patient.abort()
    await later
    await until(() => sockets.every((socket) => socket.readableEnded))
  })

  it('limits the number of simultaneous probes', async () => {
    const { server, port, sockets } = await startSilent()
    const service = await startProbe([silentSettings('silent', port)], { PROBE_CONCURRENCY: '2' })
    const patient = { 'x-prometheus-scrape-timeout-seconds': '20' }
    const waiting = [1, 2].map(() => service.text('/probe?target=silent', patient))
    await until(() => sockets.length === 2)
    const reply = await service.get('/probe?target=silent', patient)
    expect(reply.status).toBe(503)
    expect(reply.headers.get('retry-after')).toBe('1')
    expect(await reply.json()).toMatchObject({ code: 'TOO_MANY_PROBES' })
    // The polls retry with the legacy protocol, and would wait for its reply.
    server.on('connection', (socket) => socket.destroy())
    for (const socket of sockets) socket.destroy()
    for (const text of await Promise.all(waiting)) expect(text).toContain('\nprobe_success 0\n')
    const after = service.text('/probe?target=silent', { 'x-prometheus-scrape-timeout-seconds': '0.6' })
    expect(await after).toContain('\nprobe_success 0\n')
  })

  it('aborts the poll of a scraper that has disconnected', async () => {
    const { port, sockets } = await startSilent()
    const service = await startProbe([silentSettings('silent', port)], { PROBE_CONCURRENCY: '1' })
    const gone = new AbortController()
    const scrape = fetch(`${service.url}/probe?target=silent`, {
      signal: gone.signal,
      headers: { 'x-prometheus-scrape-timeout-seconds': '30' },
    }).catch((error: Error) => error.name)
    await until(() => sockets.length === 1)
    const closed = new Promise((resolve) => sockets[0]!.once('close', resolve))
    gone.abort()
    expect(await scrape).toBe('AbortError')
    await closed
  })

  it('polls for many requests on one connection without a warning, and aborts them all when it closes', async () => {
    const { port, sockets } = await startSilent()
    const service = await startProbe([silentSettings('silent', port)], { PROBE_CONCURRENCY: '21', POLL_TIMEOUT: '60s' })
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    closers.push(() => process.off('warning', note))
    const { hostname, port: own } = new URL(service.url)
    const scraper = tcpConnect(Number(own), hostname)
    const request = 'GET /probe?target=silent HTTP/1.1\r\nHost: x\r\nX-Prometheus-Scrape-Timeout-Seconds: 60\r\n\r\n'
    // Of another client, which waits until the deadline.
    const other = tcpConnect(Number(own), hostname)
    other.write(request)
    await until(() => sockets.length === 1)
    scraper.write(request.repeat(20))
    await until(() => sockets.length === 21)
    const closed = Promise.all(sockets.slice(1).map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    scraper.destroy()
    await closed
    expect(sockets[0]!.closed).toBe(false)
    other.destroy()
    expect(warnings).toEqual([])
  })

  it('shows the poll step by step, without secrets', async () => {
    const demo = await startDemo()
    const service = await startProbe([demoSettings(demo, 'demo')])
    const reply = await service.get('/probe?target=demo&debug=true')
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const text = await reply.text()
    const managed = new URL(demo.management?.url ?? '').port
    for (const port of [demo.address.port, demo.rcon.address.port, managed]) {
      expect(text).toContain(`connect to 127.0.0.1:${port}`)
    }
    expect(text).toContain('Outcome: up')
    expect(text).toMatch(/ {2}status \(127\.0\.0\.1:\d+\): ok in \d\.\d{3} s/)
    expect(text).toMatch(/playersOnline = \d+ \(\w+\)/)
    expect(text).toContain('\nminecraft_up 1\n')
    expect(text).not.toContain(demo.rcon.password)
  })
})

describe('probeTimeout', () => {
  it.each([
    [undefined, 3_000],
    ['5', 4_500],
    ['5.25', 4_750],
    ['600', 10_000],
    ['0.8', 400],
    ['0.3', 150],
  ])('of %s is %d ms', (header, expected) => {
    expect(probeTimeout(header, 3_000)).toBe(expected)
  })

  it.each(['0', '-1', 'ten', '1e3', ''])('refuses %j', (header) => {
    expect(() => probeTimeout(header, 3_000)).toThrow(`Scrape-Timeout-Seconds is ${JSON.stringify(header)}; expected`)
  })

  it('is never longer than 10 s', () => {
    expect(probeTimeout(undefined, 60_000)).toBe(10_000)
  })
})

describe('createAllowList', () => {
  it.each([
    ['*.example.org', 'mc.example.org', true],
    ['*.example.org', 'a.b.EXAMPLE.org.', true],
    ['*.example.org', 'example.org', false],
    ['*.example.org', 'mc.example.org.evil.test', false],
    ['*.example.org', 'mcxexample.org', false],
    ['mc.example.org', 'mc.example.org', true],
    ['mc.example.org', 'notmc.example.org', false],
    ['mc*.example.*', 'mc7.example.org', true],
    ['*example*example*', 'example', false],
    ['a*a', 'a', false],
    ['*', 'anything', true],
    // An address in another notation is a name like any other: only what it resolves to is checked.
    ['010.0.0.1', '8.0.0.1', false],
  ])('%s for %s: %s', (pattern, host, expected) => {
    expect(createAllowList([pattern]).mayAllow(host)).toBe(expected)
    expect(createAllowList([pattern]).allows(host, publicAddress)).toBe(expected)
  })

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '::127.0.0.1',
    '::7f00:1',
    '::a00:1',
    '::a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    'nonsense',
  ])('allows %s by no pattern', (address) => {
    expect(createAllowList(['*']).allows('mc.example.org', address)).toBe(false)
  })

  it.each([
    ['10.0.0.0/8', '::ffff:10.0.0.1'],
    ['10.0.0.0/8', '::a00:1'],
    ['::ffff:10.0.0.0/104', '10.0.0.1'],
    ['::a00:1', '10.0.0.1'],
    ['::1', '::1'],
  ])('with %s allows %s, the same address in another notation', (entry, address) => {
    expect(createAllowList([entry]).allows('mc.example.org', address)).toBe(true)
  })

  it('matches a long name quickly, however many * there are', () => {
    const { mayAllow } = createAllowList([`${'*a'.repeat(100)}b`])
    const started = cpuMs()
    expect(mayAllow('a'.repeat(250))).toBe(false)
    expect(cpuMs() - started).toBeLessThan(5_000)
  })
})
