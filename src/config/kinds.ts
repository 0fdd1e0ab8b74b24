import { type Stats, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { Cron } from 'croner'
import ipaddr from 'ipaddr.js'
import { formatStateAddress, parseStateAddress, type StateAddress } from '../cluster/address.ts'
import {
  formatHostPort,
  formatServerAddress,
  type HostPort,
  parseHost,
  parseHostPort,
  parseServerAddress,
  type ServerAddress,
} from '../game/protocol/address.ts'
import { matchesPattern } from '../game/protocol/text-pattern.ts'
import type { ProxyAddress, ProxyCredentials } from '../game/proxy.ts'
import { isProxyRange, rangeNames } from '../http/trusted-proxies.ts'

/** A kind of setting or query parameter: parses its text and describes the valid values. */
export interface Kind<T> {
  /** Description of the valid values, for messages: `expected ...`. */
  readonly expected: string
  /** A valid value, for examples of the config file. */
  readonly example?: string
  /** Set for a comma-separated list. */
  readonly many?: true
  /** Set for local files and folders, which only the administrator may set. */
  readonly isLocal?: true
  /** Undefined if the text is not valid. */
  parse(text: string): T | undefined
  /** The inverse of parse(); default: the value itself. */
  format?(value: T): string
}

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `500ms`, `5s`, `1.5m`, `1h`, `2d` as milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  return match ? Number(match[1]) * units[match[2] as keyof typeof units] : undefined
}

export const duration = (min: string, max: string): Kind<number> => ({
  example: '5s',
  expected: `a duration from ${min} to ${max}, such as 500ms, 5s, 2m or 1h`,
  parse(text) {
    const value = parseDuration(text)
    const [low, high] = [parseDuration(min) ?? 0, parseDuration(max) ?? Number.POSITIVE_INFINITY]
    return value !== undefined && value >= low && value <= high ? value : undefined
  },
})

/** An integer in decimal digits: no sign, space, fraction, exponent or hexadecimal. */
export const integer = (min: number, max: number): Kind<number> => ({
  example: String(max),
  expected: `an integer from ${min} to ${max}`,
  parse(text) {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  },
})

export const text: Kind<string> = {
  example: 'survival',
  expected: 'a non-empty text',
  parse: (given) => given.trim() || undefined,
}

/** A text to search for, or a regular expression. */
export const textPattern: Kind<string> = {
  expected: 'a non-empty text, or a regular expression between slashes: /asleep|starting/i',
  parse(given) {
    try {
      matchesPattern(given.trim(), '')
      return given.trim() || undefined
    } catch {
      return undefined
    }
  },
}

/** A name that is valid as a path segment, because API paths contain server names. */
export const serverName: Kind<string> = {
  example: 'survival',
  expected: 'a non-empty name without slashes that is not . or .., because it is part of API paths',
  parse(given) {
    const name = given.trim()
    // A lone surrogate cannot be encoded in a path.
    return /^\.{0,2}$|\/|\p{Surrogate}/u.test(name) ? undefined : name
  },
}

/** The path under which a reverse proxy serves the service. Parsed without a trailing slash; `/` becomes an empty text. */
export const basePath: Kind<string> = {
  expected: 'a path such as /mc, with letters, digits and - . _ ~ between slashes',
  parse(given) {
    const path = given.trim().replace(/\/+$/, '')
    return /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9\-._~]+)*$/.test(path) ? path : undefined
  },
}

/** A token as allowed in `Authorization: Bearer`: RFC 6750, section 2.1. */
export const bearerToken: Kind<string> = {
  expected: 'a token of letters, digits and - . _ ~ + /, with = at the end only, because it is sent in a header',
  parse: (given) => (/^[A-Za-z0-9\-._~+/]+=*$/.test(given.trim()) ? given.trim() : undefined),
}

export const oneOf = <const T extends string>(...choices: readonly T[]): Kind<T> => ({
  example: choices[0] ?? '',
  expected: `one of ${choices.join(', ')}`,
  parse: (given) => choices.find((choice) => choice === given),
})

export const list = <T>(item: Kind<T>): Kind<readonly T[]> => ({
  ...(item.example !== undefined && { example: item.example }),
  expected: `a comma-separated list, each ${item.expected}`,
  many: true,
  parse(given) {
    const parts = given.split(',').map((part) => part.trim())
    const values = parts.filter((part) => part !== '').map((part) => item.parse(part))
    return values.some((value) => value === undefined) ? undefined : (values as readonly T[])
  },
})

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

/** Prefix of key names. Without braces, which Redis Cluster uses for hash tags. */
export const keyPrefix: Kind<string> = {
  example: 'tickwarden',
  expected: '1 to 40 letters, digits and - . _',
  parse: (given) => (/^[A-Za-z0-9\-._]{1,40}$/.test(given) ? given : undefined),
}

/** A proxy. Without user name and password, because the URL is shown in messages. */
export const proxyAddress: Kind<ProxyAddress> = {
  expected: 'socks5://host:port or http://host:port (port 1080 or 3128 if none is given) without a user name',
  parse(given) {
    const [, protocol, address = ''] = /^(socks5|http):\/\/([^/]+)\/?$/.exec(given) ?? []
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

/** @param protocols with colon: `https:` */
export const url = (...protocols: readonly string[]): Kind<string> => ({
  example: `${protocols[0]}//example.org`,
  expected: `a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  parse(given) {
    if (!URL.canParse(given)) return undefined
    const { protocol, href } = new URL(given)
    return protocols.includes(protocol) ? href : undefined
  },
})

/**
 * A URL to which paths are appended. Without user name, password, query and fragment, which would be lost or shown in messages.
 * @param protocols with colon: `https:`
 */
export function baseUrl(...protocols: readonly string[]): Kind<string> {
  const { parse, expected, ...kind } = url(...protocols)
  return {
    ...kind,
    expected: `${expected}, without a user name, password, query or fragment`,
    parse(given) {
      const href = parse(given)
      if (href === undefined || /[?#]/.test(href)) return undefined
      const { username, password } = new URL(href)
      return username === '' && password === '' ? href : undefined
    },
  }
}

/** `*`, or an origin. Parsed to the form that browsers send: lower case, without a default port. */
export const origin: Kind<string> = {
  example: 'https://example.org',
  expected: '* or one origin: https://host or https://host:port without a path, international names in punycode (xn--...)',
  parse(given) {
    const [, protocol = '', address = ''] = /^([a-z][a-z0-9+.-]*:)\/\/(.+)$/i.exec(given) ?? []
    if (parseHostPort(address, 1) === undefined) return given === '*' ? given : undefined
    if (!/^https?:$/i.test(protocol)) return given.toLowerCase()
    return URL.canParse(given) ? new URL(given).origin : undefined
  },
}

/** An entry of an allow list: a host name, a pattern with `*`, an IP address or a CIDR range. */
export const hostPattern: Kind<string> = {
  example: '*.example.org',
  expected: 'a host name or pattern such as *.example.org, an IP address, or a range such as 10.0.0.0/8',
  parse: (given) => (ipaddr.isValidCIDR(given) || isIP(given) > 0 || /^[a-z0-9*._-]+$/i.test(given) ? given : undefined),
}

/** Addresses of trusted reverse proxies. */
export const proxyRange: Kind<string> = {
  example: 'loopback',
  expected: `one of ${rangeNames.join(', ')}, an IP address, or a range such as 10.0.0.0/8`,
  parse: (given) => (isProxyRange(given) ? given : undefined),
}

/** Whether the user name and password of a URL are valid percent-encoding. */
function canDecode({ username, password }: URL): boolean {
  try {
    return decodeURIComponent(username + password) !== undefined
  } catch {
    return false
  }
}

/** A path, or an `https://` URL (`http://` on this machine only). */
export const fileOrUrl: Kind<string> = {
  example: '/srv/data/projects.json',
  expected: 'a file path or an https:// URL; in its user name and password write % as %25, / as %2F',
  parse(given) {
    if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return given || undefined
    if (!URL.canParse(given)) return undefined
    const place = new URL(given)
    const { protocol, hostname } = place
    const local = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
    const isAllowed = protocol === 'https:' || (protocol === 'http:' && local)
    return isAllowed && canDecode(place) ? given : undefined
  },
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** An existing file; parsed to its absolute path. */
export const existingFile = (expected: string): Kind<string> => ({
  isLocal: true,
  example: '/srv/minecraft/ca.pem',
  expected,
  parse: (given) => (statusOf(given)?.isFile() ? resolve(given) : undefined),
})

/** An existing folder; parsed to its absolute path. */
export const existingFolder = (expected: string): Kind<string> => ({
  isLocal: true,
  example: '/srv/minecraft',
  expected,
  parse: (given) => (statusOf(given)?.isDirectory() ? resolve(given) : undefined),
})

/** The URL template of player heads. */
export const headsUrl: Kind<string> = {
  example: 'https://heads.example.org/{uuid}',
  expected:
    'a URL that starts with https:// or http:// and contains {uuid}, without a user name or password, such as https://heads.example.org/{uuid}?size={size}',
  // Returned as given: URL.href would encode the braces.
  parse(given) {
    const href = given.includes('{uuid}') ? url('https:', 'http:').parse(given) : undefined
    if (href === undefined) return undefined
    const { username, password } = new URL(href)
    return username === '' && password === '' ? given : undefined
  },
}

export const fingerprint: Kind<string> = {
  example: 'ab'.repeat(32),
  expected: 'a SHA-256 fingerprint: 64 hexadecimal digits, colons allowed',
  parse(given) {
    const digits = given.replaceAll(':', '').toLowerCase()
    return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined
  },
}

/** A cron expression (UTC) or `off` by script; other scripts keep their default. */
export type Schedule = Readonly<Record<string, string>>

const isCron = (given: string): boolean => {
  try {
    // The parser accepts 30 February, which never occurs.
    return new Cron(given, { paused: true, timezone: 'UTC' }).nextRun() !== null
  } catch {
    return false
  }
}

/** @param scripts the names of all scripts */
export const schedule = (scripts: readonly string[]): Kind<Schedule> => ({
  example: 'off',
  expected: `"off", one cron expression for all scripts, or "<script>=<cron expression or off>" separated by ";" (scripts: ${scripts.join(', ')})`,
  parse(given) {
    const valid = (expression: string) => expression === 'off' || isCron(expression)
    if (!given.includes('='))
      return valid(given.trim()) ? Object.fromEntries(scripts.map((name) => [name, given.trim()])) : undefined
    const entries = given.split(';').flatMap((part) => (part.trim() === '' ? [] : [part.split('=').map((side) => side.trim())]))
    const fits = entries.every(
      ([name, expression, more]) => scripts.includes(name ?? '') && valid(expression ?? '') && more === undefined,
    )
    return fits ? Object.fromEntries(entries) : undefined
  },
})
