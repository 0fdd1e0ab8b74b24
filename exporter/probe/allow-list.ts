import ipaddr from 'ipaddr.js'

export interface AllowList {
  /** False where nothing on the list could ever allow the host, so that no name is even looked up for it. */
  mayAllow(host: string): boolean
  /** Whether `host` may be polled at this address, which is one that it resolved to or the host itself. */
  allows(host: string, address: string): boolean
}

type Range = ReturnType<typeof ipaddr.parseCIDR>

/** The address behind an IPv4-mapped one: 10.0.0.1 must not pass as ::ffff:10.0.0.1. */
const parse = (address: string) => (ipaddr.isValid(address) ? ipaddr.process(address) : undefined)

function parseRange(entry: string): Range | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  const single = parse(entry)
  return single && [single, single.kind() === 'ipv4' ? 32 : 128]
}

function isIn(address: NonNullable<ReturnType<typeof parse>>, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits)
}

/** `*` stands for any characters, dots too; a pattern is for the whole name. */
function toExpression(pattern: string): RegExp {
  const literal = pattern.toLowerCase().replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${literal.replaceAll('*', '.*')}$`)
}

/**
 * What /probe may reach besides the configured servers: host patterns (`*.example.org`) and ranges (`10.0.0.0/8`). A host that a
 * pattern allows must be at a public address: private, loopback, link-local and other special ones take a range that covers them.
 */
export function createAllowList(entries: readonly string[]): AllowList {
  const ranges = entries.map(parseRange).filter((range) => range !== undefined)
  const patterns = entries.filter((entry) => !entry.includes('/') && parse(entry) === undefined).map(toExpression)
  const matches = (host: string) => patterns.some((pattern) => pattern.test(host.toLowerCase().replace(/\.$/, '')))
  return {
    mayAllow: (host) => ranges.length > 0 || matches(host),
    allows(host, text) {
      const address = parse(text)
      if (address === undefined) return false
      if (ranges.some((range) => isIn(address, range))) return true
      return address.range() === 'unicast' && matches(host)
    },
  }
}
