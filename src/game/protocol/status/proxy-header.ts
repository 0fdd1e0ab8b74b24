import { isIPv4, isIPv6 } from 'node:net'
import { withoutZone } from '../../../util/address.ts'
import { load } from '../../../util/load.ts'

// The header with which a proxy passes on the client's address: https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt

export type ProxyProtocolVersion = 'v1' | 'v2'

/** The two ends of a connection, as far as they are known. */
export interface ConnectionEnds {
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
/** Version 2 with the command LOCAL (a connection by the proxy itself) or PROXY. */
const commands = { local: 0x20, proxy: 0x21 } as const
/** TCP over IPv4 and over IPv6. */
const families = { ipv4: 0x11, ipv6: 0x21 } as const

/** @param ends empty if unknown, for example behind a tunnel: then the header contains no addresses */
export function encodeProxyHeader(version: ProxyProtocolVersion, ends: ConnectionEnds): Buffer {
  const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = ends
  const family = familyOf(localAddress, remoteAddress)
  if (family === undefined) {
    return version === 'v1'
      ? Buffer.from('PROXY UNKNOWN\r\n')
      : Buffer.concat([signature, Buffer.from([commands.local, 0, 0, 0])])
  }
  if (version === 'v1') {
    const name = family === 'ipv4' ? 'TCP4' : 'TCP6'
    const addresses = `${withoutZone(localAddress)} ${withoutZone(remoteAddress)}`
    return Buffer.from(`PROXY ${name} ${addresses} ${localPort} ${remotePort}\r\n`, 'latin1')
  }
  const addresses = Buffer.concat([toBytes(localAddress), toBytes(remoteAddress)])
  const ports = Buffer.alloc(4)
  ports.writeUInt16BE(localPort, 0)
  ports.writeUInt16BE(remotePort, 2)
  const head = Buffer.from([commands.proxy, families[family], 0, addresses.length + ports.length])
  return Buffer.concat([signature, head, addresses, ports])
}

const toBytes = (address: string): Buffer =>
  Buffer.from(load<typeof import('ipaddr.js')>('ipaddr.js').parse(withoutZone(address)).toByteArray())

function familyOf(localAddress: string, remoteAddress: string): keyof typeof families | undefined {
  if (isIPv4(localAddress) && isIPv4(remoteAddress)) return 'ipv4'
  return isIPv6(localAddress) && isIPv6(remoteAddress) ? 'ipv6' : undefined
}
