import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { formatStateAddress, parseStateAddress, type StateAddress } from '../../cluster/address.ts'
import {
  formatHostPort,
  formatServerAddress,
  type HostPort,
  parseHost,
  parseHostPort,
  parseServerAddress,
  type ServerAddress,
  toAsciiName,
} from '../../game/protocol/address.ts'
import type { ProxyAddress, ProxyCredentials } from '../../game/proxy.ts'
import { rangeNames } from '../../http/trusted-proxies.ts'
import type { Kind } from './kind.ts'

export const hostPort = (defaultPort?: number): Kind<HostPort> => ({
  example: `mc.example.org:${defaultPort ?? 9150}`,
  expected:
    defaultPort === undefined
      ? 'host:port, an IPv6 address in brackets: [::1]:9150'
      : `host or host:port (port ${defaultPort} if none is given), an IPv6 address in brackets: [::1]:${defaultPort}`,
  parse(given) {
    const value = parseHostPort(given, defaultPort ?? 0)
    return value === undefined || value.port === 0 ? undefined : value
  },
  format: formatHostPort,
})

/** An address to listen on: a host name or IP address without a port. */
export const host: Kind<string> = {
  example: '127.0.0.1',
  expected: 'a host name or IP address, such as 127.0.0.1, 0.0.0.0 or ::',
  parse: parseHost,
}

/** A host name to send in the handshake. */
export const hostname: Kind<string> = { expected: 'a host name or IP address without a port', parse: parseHost }

export const serverAddress: Kind<ServerAddress> = {
  example: 'mc.example.org',
  expected: 'host or host:port (port 25565 if none is given), an IPv6 address in brackets, or bedrock://host:port',
  advise(text) {
    const parts = text.split(/[\s,;]+/).filter((part) => part !== '')
    // Words with only blanks between them are no list.
    const isAddress = (part: string) => parseServerAddress(part) !== undefined && (/[,;]/.test(text) || /[.:]/.test(part))
    const isServerList = parts.length > 1 && parts.every(isAddress)
    return isServerList ? 'list several servers in tickwarden.yaml, each as an entry of servers' : undefined
  },
  parse: parseServerAddress,
  format: formatServerAddress,
}

/** The address of a Redis or Valkey server. */
export const stateAddress: Kind<StateAddress> = {
  example: 'redis://redis.example.org:6379',
  expected:
    'redis://host:port or rediss://host:port (port 6379 if none is given), optionally with user:password@ before the host and /database at the end; in the password write % as %25, / as %2F, @ as %40',
  parse: parseStateAddress,
  format: formatStateAddress,
}

/** A proxy. Without user name and password, because the URL is shown in messages. */
export const proxyAddress: Kind<ProxyAddress> = {
  expected: 'socks5://host:port or http://host:port (port 1080 or 3128 if none is given) without a user name',
  parse(given) {
    const [, protocol, address = ''] = /^(socks5|http):\/\/([^/]+)\/?$/.exec(given.trim()) ?? []
    if (protocol !== 'socks5' && protocol !== 'http') return undefined
    const parsed = parseHostPort(address, protocol === 'socks5' ? 1080 : 3128)
    return parsed && { protocol, ...parsed }
  },
  format: ({ protocol, ...address }) => `${protocol}://${formatHostPort(address)}`,
}

export const proxyCredentials: Kind<ProxyCredentials> = {
  expected: 'user:password, each of 1 to 255 bytes',
  parse(given) {
    const [, user = '', password = ''] = /^([^:]+):(.+)$/s.exec(given.trim()) ?? []
    const fits = [user, password].every((part) => part !== '' && Buffer.byteLength(part) <= 255)
    return fits ? { user, password } : undefined
  },
}

/** An IP address or a CIDR range. The library also accepts `10/8`, which it reads as 0.0.0.10/8. */
const isAddressRange = (text: string): boolean =>
  isIP(text) > 0 || (ipaddr.isValidCIDR(text) && isIP(text.split('/')[0] ?? '') > 0)

/** An entry of an allow list: a host name, a pattern with `*`, an IP address or a CIDR range. */
export const hostPattern: Kind<string> = {
  example: '*.example.org',
  expected: 'a host name or pattern such as *.example.org, an IP address, or a range such as 10.0.0.0/8',
  parse(given) {
    const text = toAsciiName(given.trim())
    return isAddressRange(text) || /^[a-z0-9*._-]+$/i.test(text) ? text : undefined
  },
}

/** Addresses of trusted reverse proxies. */
export const proxyRange: Kind<string> = {
  example: 'loopback',
  expected: `one of ${rangeNames.join(', ')}, an IP address, or a range such as 10.0.0.0/8`,
  parse: (given) => (rangeNames.includes(given) || isAddressRange(given) ? given : undefined),
}
