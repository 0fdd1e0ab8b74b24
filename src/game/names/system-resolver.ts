import { promises as dns, type LookupAddress, type RecordWithTtl } from 'node:dns'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../../util/clock.ts'
import { createLimiter } from '../../util/limiter.ts'
import { waitUpTo } from '../../util/wait-up-to.ts'
import { codeOf } from '../errors.ts'
import type { SrvRecord } from '../protocol/srv.ts'
import { type Answer, isNegative } from './name-cache.ts'
import { candidates, createFileView, parseHosts, parseResolvConf, type SearchRules } from './system-files.ts'

/** getaddrinfo blocks one of the four threads of libuv's pool while it waits; the file system uses the same pool. */
const maxThreads = 3
const queryOptions = { timeout: 1_000, tries: 2 }
/** Milliseconds to wait for the second address family: some name servers never answer AAAA queries. */
const maxFamilyGapMs = 250

export type Addresses = readonly LookupAddress[]

/** Resolves names without a cache. Both methods reject with `ENOTFOUND` or `ENODATA` if there is no such record. */
export interface Resolver {
  addresses(host: string): Promise<Answer<Addresses>>
  srv(name: string): Promise<Answer<readonly SrvRecord[]>>
  /** Cancels pending queries. */
  close(): void
}

export interface SystemResolverOptions {
  readonly clock: Clock
  /** Name servers as `address:port`; default: those of the system. */
  readonly nameServers?: readonly string[]
  readonly hostsFile?: string
  readonly resolvConf?: string
  /** Default: getaddrinfo. */
  readonly lookup?: (host: string) => Promise<Addresses>
}

/**
 * Resolves names like the operating system, but with DNS queries (c-ares): getaddrinfo blocks one of four threads per name and
 * returns no TTL. It still resolves names in the hosts file, in `.local` and `.localhost`, names that DNS does not have, and all
 * names on macOS and Windows, whose name servers per domain c-ares does not support.
 */
export function createSystemResolver(options: SystemResolverOptions): Resolver {
  const { clock, nameServers, hostsFile = '/etc/hosts', resolvConf = '/etc/resolv.conf' } = options
  const { lookup = (host) => dns.lookup(host, { all: true }) } = options
  const usesQueries = nameServers !== undefined || !['darwin', 'win32'].includes(process.platform)
  const inThread = createLimiter(() => maxThreads)
  const readHosts = createFileView(hostsFile, parseHosts, clock)
  const readSearchRules = createFileView(resolvConf, parseResolvConf, clock)
  let channel: { readonly rules: SearchRules; readonly resolver: dns.Resolver } | undefined
  let closed = false

  /** Creates a new c-ares resolver when resolv.conf has changed: c-ares reads the name servers only once. */
  function resolverFor(rules: SearchRules): dns.Resolver {
    if (channel?.rules === rules) return channel.resolver
    const resolver = new dns.Resolver(queryOptions)
    if (nameServers !== undefined) resolver.setServers(nameServers)
    channel = { rules, resolver }
    return resolver
  }

  const byThread = async (host: string): Promise<Answer<Addresses>> => ({ value: await inThread(() => lookup(host)) })

  async function byQuery(host: string): Promise<Answer<Addresses>> {
    const rules = await readSearchRules()
    const resolver = resolverFor(rules)
    let failure: unknown
    for (const name of candidates(host, rules)) {
      try {
        return await queryBoth(resolver, name, clock)
      } catch (error) {
        // Like getaddrinfo: a failure may affect only the domain of this candidate, a timeout affects all candidates.
        if (failure === undefined || !isNegative(error)) failure = error
        if (codeOf(error) === 'ETIMEOUT') break
      }
    }
    throw failure
  }

  return {
    async addresses(host) {
      if (closed) throw cancelled()
      const name = host.toLowerCase()
      const isLocal = /(^|\.)(localhost|local)\.?$/.test(name)
      if (!usesQueries || isLocal || (await readHosts()).has(name)) return byThread(host)
      try {
        return await byQuery(host)
      } catch (error) {
        if (closed || codeOf(error) === 'ETIMEOUT') throw error
        return byThread(host)
      }
    },
    async srv(name) {
      if (closed) throw cancelled()
      const resolver = resolverFor(await readSearchRules())
      return { value: await resolver.resolveSrv(name) }
    },
    close() {
      closed = true
      channel?.resolver.cancel()
    },
  }
}

const cancelled = () => Object.assign(new Error('the resolver is closed'), { code: 'ECANCELLED' })

/** Whether IPv6 addresses come first: like getaddrinfo, if this machine has a global IPv6 address (RFC 6724). */
function prefersIpv6(): boolean {
  try {
    return Object.values(networkInterfaces()).some((all) =>
      all?.some(({ family, internal, address }) => family === 'IPv6' && !internal && /^[23]/.test(address)),
    )
  } catch {
    // A sandbox may not allow it, such as one of systemd without AF_NETLINK.
    return false
  }
}

interface Found extends LookupAddress {
  readonly ttl: number
}

async function queryBoth(resolver: dns.Resolver, name: string, clock: Clock): Promise<Answer<Addresses>> {
  const withFamily = (family: 4 | 6) => (records: readonly RecordWithTtl[]) =>
    records.map(({ address, ttl }) => ({ address, family, ttl }))
  const found = await collect(
    [resolver.resolve4(name, { ttl: true }).then(withFamily(4)), resolver.resolve6(name, { ttl: true }).then(withFamily(6))],
    clock,
  )
  const hasBoth = found.some(({ family }) => family === 4) && found.some(({ family }) => family === 6)
  const first = hasBoth && prefersIpv6() ? 6 : 4
  return {
    value: found
      .toSorted((a, b) => Number(b.family === first) - Number(a.family === first))
      .map(({ address, family }) => ({ address, family })),
    ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
  }
}

/** Collects the addresses of both families, or of one if the other takes much longer. Rejects if there are none. */
async function collect(queries: readonly Promise<readonly Found[]>[], clock: Clock): Promise<readonly Found[]> {
  const found: Found[] = []
  const failures: unknown[] = []
  const ends = queries.map((query) =>
    query.then(
      (addresses) => void found.push(...addresses),
      (error: unknown) => void failures.push(error),
    ),
  )
  await Promise.race(ends)
  const all = Promise.all(ends)
  await (found.length > 0 ? waitUpTo(all, maxFamilyGapMs, clock) : all)
  // A failed query takes precedence over a negative answer.
  if (found.length === 0) throw failures.find((error) => !isNegative(error)) ?? failures[0]
  return [...found]
}
