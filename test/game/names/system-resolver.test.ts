import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import os, { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { candidates, parseHosts, parseResolvConf } from '../../../src/game/names/system-files.ts'
import { createSystemResolver, type Resolver } from '../../../src/game/names/system-resolver.ts'
import { type DnsAnswer, dnsServer, type RecordType } from '../../helpers/dns-server.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { until } from '../../helpers/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwarden-names-'))
const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true })]
afterEach(async () => {
  for (const close of closers.splice(1)) await close()
})

interface Parts {
  readonly hosts?: string
  readonly resolvConf?: string
  /** The only names that getaddrinfo resolves. */
  readonly system?: Readonly<Record<string, string>>
}

/** The resolver of a machine with these files, whose name server gives these answers. */
async function subject(answer: (name: string, type: RecordType) => DnsAnswer, parts: Parts = {}) {
  const dns = await dnsServer(answer)
  const [hostsFile, resolvConf] = [join(folder, 'hosts'), join(folder, 'resolv.conf')]
  writeFileSync(hostsFile, parts.hosts ?? '')
  writeFileSync(resolvConf, parts.resolvConf ?? 'search .\n')
  const clock = manualClock()
  const system: string[] = []
  const resolver: Resolver = createSystemResolver({
    clock,
    nameServers: [dns.address],
    hostsFile,
    resolvConf,
    async lookup(host) {
      system.push(host)
      const address = parts.system?.[host]
      if (address === undefined) throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
      return [{ address, family: 4 }]
    },
  })
  closers.push(
    () => dns[Symbol.asyncDispose](),
    () => resolver.close(),
  )
  return { resolver, dns, system, clock, hostsFile }
}

const a = (data: string, ttl = 60) => [{ ttl, data }]
const ipv6 = (last: number, ttl = 60) => [{ ttl, data: Buffer.from([0x20, 1, 13, 184, ...Array(11).fill(0), last]) }]
const only =
  (wanted: string, type: RecordType = 'A') =>
  (name: string, requested: RecordType) =>
    name !== wanted ? 'NXDOMAIN' : requested === type ? a('192.0.2.1') : []

describe('the system resolver', () => {
  it('queries both families, and returns the lower TTL', async () => {
    const { resolver, system } = await subject((_, type) => (type === 'A' ? a('192.0.2.1', 300) : ipv6(1, 40)))
    const { value, ttlSeconds } = await resolver.addresses('mc.example.org')
    expect(value.toSorted((x, y) => x.family - y.family)).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
    expect(ttlSeconds).toBe(40)
    expect(system).toEqual([])
  })

  it('returns the addresses of one family if the name server does not answer for the other', async () => {
    const { resolver, clock, dns } = await subject((_, type) => (type === 'A' ? a('192.0.2.1') : undefined))
    const found = resolver.addresses('mc.example.org')
    await until(() => clock.pending > 0)
    await clock.advance(250)
    expect((await found).value).toEqual([{ address: '192.0.2.1', family: 4 }])
    expect(dns.queries).toContain('AAAA mc.example.org')
  })

  it('queries both families if a sandbox hides the addresses of this machine', async () => {
    const spy = vi.spyOn(os, 'networkInterfaces').mockImplementation(() => {
      throw Object.assign(new Error('uv_interface_addresses'), { code: 'ERR_SYSTEM_ERROR' })
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      spy.mockRestore()
      syncBuiltinESMExports()
    })
    const { resolver, system } = await subject((_, type) => (type === 'A' ? a('192.0.2.1') : ipv6(1)))
    const { value } = await resolver.addresses('mc.example.org')
    expect(value.map(({ family }) => family)).toEqual([4, 6])
    expect(system).toEqual([])
  })

  it('resolves SRV records', async () => {
    const { resolver } = await subject(() => [{ ttl: 5, data: { port: 4, target: 'node.example.org' } }])
    expect((await resolver.srv('_minecraft._tcp.example.org')).value).toEqual([
      { name: 'node.example.org', port: 4, priority: 0, weight: 0 },
    ])
  })

  it('resolves names of the hosts file by getaddrinfo, also if they are added later', async () => {
    const { resolver, dns, clock, hostsFile } = await subject(() => a('192.0.2.1'), {
      hosts: '# mc.example.org\n10.0.0.1\tother LOBBY.example.org # comment\n',
      system: { 'Lobby.Example.org': '10.0.0.1', 'mc.example.org': '10.0.0.2' },
    })
    expect((await resolver.addresses('Lobby.Example.org')).value).toEqual([{ address: '10.0.0.1', family: 4 }])
    expect(dns.queries).toEqual([])
    expect((await resolver.addresses('mc.example.org')).value).toEqual([{ address: '192.0.2.1', family: 4 }])
    writeFileSync(hostsFile, '10.0.0.2 mc.example.org\n')
    await clock.advance(5_000)
    expect((await resolver.addresses('mc.example.org')).value).toEqual([{ address: '10.0.0.2', family: 4 }])
  })

  it.each(['localhost', 'mc.localhost', 'printer.local', 'printer.local.'])('resolves %s by getaddrinfo', async (host) => {
    const { resolver, dns, system } = await subject(() => a('192.0.2.1'), { system: { [host]: '127.0.0.1' } })
    expect((await resolver.addresses(host)).value).toEqual([{ address: '127.0.0.1', family: 4 }])
    expect([...system, ...dns.queries]).toEqual([host])
  })

  it('applies the search domains of resolv.conf', async () => {
    const { resolver } = await subject(only('lobby.games.svc'), { resolvConf: 'search default.svc games.svc\n' })
    expect((await resolver.addresses('lobby')).value).toEqual([{ address: '192.0.2.1', family: 4 }])
  })

  it('tries the next domain if one cannot be resolved', async () => {
    const { resolver } = await subject((name, type) => (name === 'lobby.broken' ? 'SERVFAIL' : only('lobby.fine')(name, type)), {
      resolvConf: 'search broken fine\n',
    })
    expect((await resolver.addresses('lobby')).value).toEqual([{ address: '192.0.2.1', family: 4 }])
  })

  it('uses getaddrinfo for names that DNS does not have, and returns its error', async () => {
    const { resolver } = await subject(() => 'NXDOMAIN', { system: { nas: '192.168.1.2' } })
    expect(await resolver.addresses('nas')).toEqual({ value: [{ address: '192.168.1.2', family: 4 }] })
    await expect(resolver.addresses('gone.example.org')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  it('does not block a thread of getaddrinfo while name servers are silent', async () => {
    const { resolver, system } = await subject(() => undefined)
    const silent = resolver.addresses('mc.example.org')
    await expect(silent).rejects.toMatchObject({ code: 'ETIMEOUT' })
    expect(system).toEqual([])
  })

  it('cancels pending queries when it is closed', async () => {
    const { resolver, dns } = await subject(() => undefined)
    const pending = expect(resolver.addresses('mc.example.org')).rejects.toMatchObject({ code: 'ECANCELLED' })
    await until(() => dns.queries.length >= 2)
    resolver.close()
    await pending
    await expect(resolver.addresses('mc.example.org')).rejects.toMatchObject({ code: 'ECANCELLED' })
  })
})

it('parses a hosts file', () => {
  expect([...parseHosts('127.0.0.1 localhost\n::1\tip6-localhost Loop # x\n# 1.2.3.4 no\n\n10.0.0.1\n')]).toEqual([
    'localhost',
    'ip6-localhost',
    'loop',
  ])
})

it('parses resolv.conf', () => {
  const domain = hostname().split('.').slice(1).join('.')
  expect(parseResolvConf('nameserver 10.0.0.1\n')).toEqual({ domains: domain === '' ? [] : [domain], ndots: 1 })
  expect(parseResolvConf('search a.org  b.org\noptions edns0 ndots:5\n')).toEqual({ domains: ['a.org', 'b.org'], ndots: 5 })
  expect(parseResolvConf('search a.org\ndomain c.org\noptions ndots:99\n')).toEqual({ domains: ['c.org'], ndots: 15 })
})

it.each([
  ['mc', 1, ['mc.a.org', 'mc.b.org', 'mc']],
  ['mc.lan', 1, ['mc.lan', 'mc.lan.a.org', 'mc.lan.b.org']],
  ['mc.lan', 5, ['mc.lan.a.org', 'mc.lan.b.org', 'mc.lan']],
  ['mc.lan.', 5, ['mc.lan']],
])('tries for %s with ndots:%d: %j', (name, ndots, expected) => {
  expect(candidates(name, { domains: ['a.org', 'b.org.'], ndots })).toEqual(expected)
})
