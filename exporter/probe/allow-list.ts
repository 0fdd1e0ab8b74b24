import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { wildcard } from '../../src/util/wildcard.ts'

type Address = ReturnType<typeof ipaddr.process>
type Range = readonly [base: Address, bits: number]

const compatible = ipaddr.parseCIDR('::/96')

/**
 * The IPv4 address in an IPv4-mapped (::ffff:10.0.0.1) or IPv4-compatible (::a00:1 or ::10.0.0.1) IPv6 address, so that neither
 * form bypasses the check. ::1 and :: are not IPv4 addresses.
 */
function unwrap(address: Address): Address {
  if (!('isIPv4MappedAddress' in address)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  const isCompatible = address.range() === 'unicast' && address.match(compatible)
  return isCompatible ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address
}

const parse = (text: string): Address | undefined => (isIP(text) === 0 ? undefined : unwrap(ipaddr.parse(text)))

function parseRange(entry: string): Range | undefined {
  if (!entry.includes('/')) {
    const single = parse(entry)
    return single && [single, single.kind() === 'ipv4' ? 32 : 128]
  }
  const [base, bits] = ipaddr.parseCIDR(entry)
  const plain = bits >= 96 ? unwrap(base) : base
  return [plain, plain.kind() === base.kind() ? bits : bits - 96]
}

function isIn(address: Address, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits)
}

/** A matcher for host names: `*` matches any characters, including dots; letter case is ignored. */
function hostPattern(pattern: string): (host: string) => boolean {
  const matches = wildcard(pattern.toLowerCase())
  return (host) => matches(host.toLowerCase().replace(/\.$/, ''))
}

/**
 * The targets that /probe may reach besides the configured servers: host patterns (`*.example.org`) and ranges (`10.0.0.0/8`). A
 * host that matches a pattern must have a public address: private, loopback, link-local and other special addresses need a range
 * that covers them.
 */
export function createAllowList(entries: readonly string[]) {
  const ranges = entries.map(parseRange).filter((range) => range !== undefined)
  const patterns = entries.filter((entry) => !entry.includes('/') && parse(entry) === undefined).map(hostPattern)
  const matches = (host: string) => patterns.some((fits) => fits(host))
  return {
    /** False if no entry of the list can allow the host, so that its name does not need to be resolved. */
    mayAllow: (host: string): boolean => ranges.length > 0 || matches(host),
    /** @param text the address that the host resolved to, or the host itself */
    allows(host: string, text: string): boolean {
      const address = parse(text)
      if (address === undefined) return false
      if (ranges.some((range) => isIn(address, range))) return true
      return address.range() === 'unicast' && matches(host)
    },
  }
}
