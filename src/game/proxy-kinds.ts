import type { Kind } from '../settings/kinds/kind.ts'
import { formatHostPort, parseHostPort } from '../util/address.ts'
import type { ProxyAddress, ProxyCredentials } from './proxy.ts'

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
