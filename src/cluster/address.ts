import type { Kind } from '../settings/kinds/kind.ts'
import { formatHostPort, type HostPort, parseHostPort } from '../util/address.ts'

/** Address of the shared state: a Redis or Valkey server. */
export interface StateAddress extends HostPort {
  readonly tls: boolean
  readonly database: number
  readonly user?: string
  readonly password?: string
}

const defaultPort = 6379

/** `redis://` or `rediss://`, then `[user][:password@]host[:port][/database]`; undefined for anything else. */
export function parseStateAddress(text: string): StateAddress | undefined {
  try {
    const { protocol, host, username, password, pathname, search, hash } = new URL(text.trim())
    const address = parseHostPort(decodeURIComponent(host), defaultPort)
    const database = /^\/?(\d{0,5})$/.exec(pathname)?.[1]
    if (!/^rediss?:$/.test(protocol) || address === undefined || database === undefined || search + hash !== '') return undefined
    return {
      ...address,
      tls: protocol === 'rediss:',
      database: Number(database),
      ...(username !== '' && { user: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
    }
  } catch {
    return undefined
  }
}

/** The address for messages, without user and password. */
export const formatStateAddress = ({ tls, database, ...address }: StateAddress): string =>
  `${tls ? 'rediss' : 'redis'}://${formatHostPort(address)}${database === 0 ? '' : `/${database}`}`

/** The address of a Redis or Valkey server. */
export const stateAddress: Kind<StateAddress> = {
  example: 'redis://redis.example.org:6379',
  expected:
    'redis://host:port or rediss://host:port (port 6379 if none is given), optionally with user:password@ before the host and /database at the end; in the password write % as %25, / as %2F, @ as %40',
  parse: parseStateAddress,
  format: formatStateAddress,
}
