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

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `redis://` or `rediss://`, then `[user][:password@]host[:port][/database]`; undefined for anything else. */
export function parseStateAddress(text: string): StateAddress | undefined {
  const [, protocol, credentials = '', address = '', database = '0'] =
    /^(rediss?):\/\/(?:([^/?#]*)@)?([^/?#@]+)(?:\/(\d{1,5})?)?$/.exec(text.trim()) ?? []
  const parsed = protocol === undefined ? undefined : parseHostPort(address, defaultPort)
  const [, givenUser = '', givenPassword = ''] = /^([^:]*):?(.*)$/s.exec(credentials) ?? []
  const [user, password] = [decode(givenUser), decode(givenPassword)]
  if (parsed === undefined || user === undefined || password === undefined) return undefined
  return {
    ...parsed,
    tls: protocol === 'rediss',
    database: Number(database),
    ...(user !== '' && { user }),
    ...(password !== '' && { password }),
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
