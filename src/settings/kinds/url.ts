import { parseHostPort } from '../../util/address.ts'
import { parseUrl } from '../../util/parse-url.ts'
import type { Kind } from './kind.ts'

const hasCredentials = (href: string): boolean => {
  const { username, password } = new URL(href)
  return username !== '' || password !== ''
}

/** @param protocols with colon: `https:` */
export const url = (...protocols: readonly string[]): Kind<string> => ({
  example: `${protocols[0]}//example.org`,
  expected: `a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  advise: (text) =>
    /^\w+:\/\/\[[\da-f:]+%/i.test(text) ? 'a URL cannot contain the zone of an IPv6 address; use another address' : undefined,
  parse(given) {
    const parsed = parseUrl(given)
    return parsed && protocols.includes(parsed.protocol) ? parsed.href : undefined
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
      return href === undefined || /[?#]/.test(href) || hasCredentials(href) ? undefined : href
    },
  }
}

/** The path under which a reverse proxy serves the service. Parsed without a trailing slash; `/` becomes an empty text. */
export const basePath: Kind<string> = {
  expected: 'a path such as /mc, with letters, digits and - . _ ~ between slashes',
  parse(given) {
    const path = given.trim().replace(/(?<!\/)\/+$/, '')
    return /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9\-._~]+)*$/.test(path) ? path : undefined
  },
}

/** `*`, or an origin. Parsed to the form that browsers send: lower case, without a default port. */
export const origin: Kind<string> = {
  example: 'https://example.org',
  expected: '* or one origin: https://host or https://host:port without a path, international names in punycode (xn--...)',
  parse(given) {
    const [, protocol = '', address = ''] = /^([a-z][a-z0-9+.-]*:)\/\/(.+)$/i.exec(given) ?? []
    if (/[^\x21-\x7e]/.test(given) || parseHostPort(address, 1) === undefined) return given === '*' ? given : undefined
    if (!/^https?:$/i.test(protocol)) return given.toLowerCase()
    return parseUrl(given)?.origin
  },
}

/** The URL template of player heads. */
export const headsUrl: Kind<string> = {
  example: 'https://heads.example.org/{uuid}',
  expected:
    'a URL that starts with https:// or http:// and contains {uuid}, without a user name or password, such as https://heads.example.org/{uuid}?size={size}',
  // Returned as given: URL.href would encode the braces.
  parse(given) {
    const href = given.includes('{uuid}') ? url('https:', 'http:').parse(given) : undefined
    return href === undefined || hasCredentials(href) ? undefined : given
  },
}
