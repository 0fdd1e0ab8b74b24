import { BlockList, isIP } from 'node:net'
import { isAddressRange } from '../../settings/kinds/address.ts'
import type { Kind } from '../../settings/kinds/kind.ts'

/** The names of address ranges that Express and Fastify also accept. */
const ranges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

const rangeNames = Object.keys(ranges)

/** Addresses of trusted reverse proxies. */
export const proxyRange: Kind<string> = {
  example: 'loopback',
  expected: `one of ${rangeNames.join(', ')}, an IP address, or a range such as 10.0.0.0/8`,
  parse: (given) => (rangeNames.includes(given) || isAddressRange(given) ? given : undefined),
}

/**
 * Decides which peers are trusted proxies.
 * @param trusted names of ranges, IP addresses and CIDR ranges
 * @returns a function of the address of a peer; undefined if the connection has been closed
 */
export function createProxyCheck(trusted: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList()
  for (const range of trusted.flatMap((one) => ranges[one] ?? one)) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const family = isIP(address ?? '')
    // An IPv4-mapped IPv6 address also matches IPv4 ranges.
    return address !== undefined && family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }
}
