import { type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseUrl } from '../../util/parse-url.ts'
import type { Kind } from './kind.ts'

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
    const place = parseUrl(given)
    if (place === undefined) return undefined
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
