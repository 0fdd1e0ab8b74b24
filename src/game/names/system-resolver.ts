import { promises as dns, type LookupAddress, type RecordWithTtl } from 'node:dns'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../../clock.ts'
import type { SrvRecord } from '../protocol/srv.ts'
import { createLimiter } from './limiter.ts'
import type { Answer } from './name-cache.ts'
import { candidates, createFileView, parseHosts, parseResolvConf, type SearchRules } from './system-files.ts'

/** getaddrinfo holds one of the four threads of libuv's pool while a name server is silent; files are read by the same four. */
const maxThreads = 3
const queryOptions = { timeout: 1_000, tries: 2 }
/** Milliseconds that the addresses of one family wait for those of the other: some name servers never answer for IPv6. */
const maxFamilyGapMs = 250

export type Addresses = readonly LookupAddress[]

/** Resolves without a cache. Both reject with `ENOTFOUND` or `ENODATA` for a name without such a record. */
export interface Resolver {
  addresses(host: string): Promise<Answer<Addresses>>
  srv(name: string): Promise<Answer<readonly SrvRecord[]>>
  /** Cancels the queries that are pending. */
  close(): void
}

export interface SystemResolverOptions {
  readonly clock: Clock
  /** `address:port` of name servers; default: those of the system. */
  readonly nameServers?: readonly string[]
  readonly hostsFile?: string
  readonly resolvConf?: string
  /** getaddrinfo. */
  readonly lookup?: (host: string) => Promise<Addresses>
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
const isNegative = (error: unknown): boolean => ['ENOTFOUND', 'ENODATA'].includes(codeOf(error))

/**
 * Resolves names as this machine does, but in general with DNS queries of our own (c-ares) instead of getaddrinfo: getaddrinfo
 * blocks a thread for each name, of which there are four, and does not tell a TTL. So that both give the same answer,
 *
 * - a name in the hosts file, of `.local` (multicast DNS) or of `.localhost` goes to getaddrinfo;
 * - a name is completed by the search domains of resolv.conf, in its order;
 * - a name that DNS does not have goes to getaddrinfo too, which may know other ways (LLMNR, LDAP, plug-ins of nsswitch.conf).
 *
 * macOS and Windows have name servers per domain and per interface, which c-ares does not know: there getaddrinfo resolves all.
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

  /** With the name servers that resolv.conf holds now: c-ares reads them once. */
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
        // As getaddrinfo does: a failure may be one of this candidate's domain only, silence concerns them all.
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

/** Whether IPv6 addresses are tried first, as getaddrinfo has it where this machine has a global one itself (RFC 6724). */
const prefersIpv6 = (): boolean =>
  Object.values(networkInterfaces()).some((all) =>
    all?.some(({ family, internal, address }) => family === 'IPv6' && !internal && /^[23]/.test(address)),
  )

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

/** The addresses of both families, or of one where the other does not come soon after. Rejects where there are none. */
function collect(queries: readonly Promise<readonly Found[]>[], clock: Clock): Promise<readonly Found[]> {
  return new Promise((resolve, reject) => {
    const found: Found[] = []
    const failures: unknown[] = []
    let pending = queries.length
    let cancel = () => {}
    const finish = () => {
      cancel()
      if (found.length > 0) resolve([...found])
      // That a query was not answered counts more than that there is no such record.
      else reject(failures.find((error) => !isNegative(error)) ?? failures[0])
    }
    const end = () => {
      if (--pending === 0) finish()
      else if (found.length > 0) cancel = clock.after(maxFamilyGapMs, finish)
    }
    for (const query of queries) {
      query.then(
        (addresses) => {
          found.push(...addresses)
          end()
        },
        (error: unknown) => {
          failures.push(error)
          end()
        },
      )
    }
  })
}
