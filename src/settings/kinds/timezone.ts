import type { Kind } from './kind.ts'

/** An IANA time zone. */
export const timezone: Kind<string> = {
  example: 'Europe/Berlin',
  expected: 'a time zone such as Europe/Berlin or UTC',
  parse(given) {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions().timeZone && given
    } catch {
      return undefined
    }
  },
}
