import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Clock } from '../../util/clock.ts'
import { fileVersion, readFileUpTo } from '../../util/files.ts'

/** Milliseconds between two checks of a file. */
const checkEveryMs = 5_000
/** A hosts file that blocks advertisements may have several megabytes; a larger file is treated as empty. */
const maxBytes = 32 * 1024 * 1024

/**
 * Caches a parsed file until the file changes.
 * @returns a function that returns the same object until then. Never rejects: an unreadable file is treated as empty.
 */
export function createFileView<T extends object>(path: string, parse: (text: string) => T, clock: Clock): () => Promise<T> {
  let version: string | undefined
  let value: Promise<T> | undefined
  let checkedAt = Number.NEGATIVE_INFINITY

  async function read(before?: Promise<T>): Promise<T> {
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    const now = found && found.size <= maxBytes ? fileVersion(found) : ''
    if (before !== undefined && now === version) return before
    const text = now === '' ? '' : await readFileUpTo(path, maxBytes).then(String, () => '')
    version = now
    return parse(text)
  }

  return () => {
    if (value === undefined || clock.now() - checkedAt >= checkEveryMs) {
      checkedAt = clock.now()
      value = read(value)
    }
    return value
  }
}

/** Returns the names in a hosts file, in lower case (https://man7.org/linux/man-pages/man5/hosts.5.html). */
export function parseHosts(text: string): ReadonlySet<string> {
  const names = text.split('\n').flatMap((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/).slice(1))
  return new Set(names)
}

/** The search list of the resolver (https://man7.org/linux/man-pages/man5/resolv.conf.5.html). */
export interface SearchRules {
  /** Domains to append, in order. */
  readonly domains: readonly string[]
  /** A name with at least this many dots is tried unchanged first. */
  readonly ndots: number
}

export function parseResolvConf(text: string): SearchRules {
  // Without `search`, the domain of this machine is used.
  let domains = hostname().split('.').slice(1).join('.').split(' ').filter(Boolean)
  let ndots = 1
  for (const line of text.split('\n')) {
    const [key, ...values] = line.trim().split(/\s+/)
    if (key === 'search' || key === 'domain') domains = values.filter((domain) => domain !== '.')
    if (key !== 'options') continue
    const given = /^ndots:(\d+)$/.exec(values.find((value) => value.startsWith('ndots:')) ?? '')
    if (given) ndots = Math.min(15, Number(given[1]))
  }
  return { domains, ndots }
}

/** Returns the fully qualified names to try for a name, in order. */
export function candidates(name: string, { domains, ndots }: SearchRules): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const completed = domains.map((domain) => `${name}.${domain.replace(/\.$/, '')}`)
  return name.split('.').length > ndots ? [name, ...completed] : [...completed, name]
}
