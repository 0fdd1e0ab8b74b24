import { matchesPattern } from '../../util/text-pattern.ts'
import type { Kind } from './kind.ts'

export const text: Kind<string> = {
  example: 'survival',
  expected: 'a non-empty string',
  parse: (given) => given.trim() || undefined,
}

/** A string to search for, or a regular expression. */
export const textPattern: Kind<string> = {
  expected: 'a non-empty string, or a regular expression between slashes: /asleep|starting/i',
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

/** A token as allowed in `Authorization: Bearer`: RFC 6750, section 2.1. */
export const bearerToken: Kind<string> = {
  expected: 'a token of letters, digits and - . _ ~ + /, with = at the end only, because it is sent in a header',
  parse: (given) => (/^[A-Za-z0-9\-._~+/]+=*$/.test(given.trim()) ? given.trim() : undefined),
}

/** Prefix of key names. Without braces, which Redis Cluster uses for hash tags. */
export const keyPrefix: Kind<string> = {
  example: 'tickwarden',
  expected: '1 to 40 letters, digits and - . _',
  parse: (given) => (/^[A-Za-z0-9\-._]{1,40}$/.test(given) ? given : undefined),
}

export const fingerprint: Kind<string> = {
  example: 'ab'.repeat(32),
  expected: 'a SHA-256 fingerprint: 64 hexadecimal digits, colons allowed',
  parse(given) {
    const digits = given.replaceAll(':', '').toLowerCase()
    return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined
  },
}
