import { isIP } from 'node:net'
import {
  formatHostPort,
  formatServerAddress,
  type HostPort,
  parseHost,
  parseHostPort,
  parseServerAddress,
  type ServerAddress,
  toAsciiName,
} from '../../util/address.ts'
import { load } from '../../util/load.ts'
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

/** An IP address or a CIDR range. The library also accepts `10/8`, which it reads as 0.0.0.10/8. */
export const isAddressRange = (text: string): boolean =>
  isIP(text) > 0 || (load<typeof import('ipaddr.js')>('ipaddr.js').isValidCIDR(text) && isIP(text.split('/')[0] ?? '') > 0)

/** An entry of an allow list: a host name, a pattern with `*`, an IP address or a CIDR range. */
export const hostPattern: Kind<string> = {
  example: '*.example.org',
  expected: 'a host name or pattern such as *.example.org, an IP address, or a range such as 10.0.0.0/8',
  parse(given) {
    const text = toAsciiName(given.trim())
    return isAddressRange(text) || /^[a-z0-9*._-]+$/i.test(text) ? text : undefined
  },
}
