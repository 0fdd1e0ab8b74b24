import type { Clock } from '../../util/clock.ts'
import type { Limiter } from '../../util/limiter.ts'
import { waitUpTo } from '../../util/wait-up-to.ts'
import { codeOf } from '../errors.ts'

/** Minimum lifetime of an answer in milliseconds, including negative answers, so that not every poll sends a query. */
const minLifetimeMs = 30_000
/** Maximum lifetime of an answer in milliseconds. */
const maxLifetimeMs = 3_600_000
/** Lifetime in milliseconds of an answer without a TTL. */
const defaultLifetimeMs = 60_000
/** The last part of the lifetime, in which a lookup refreshes the answer in the background. */
const renewalPart = 1 / 3
/** Milliseconds that the lookup of an expired name waits for a new answer before the old one is used. */
const maxWaitMs = 250
/** Milliseconds after a failed refresh during which the old answer is used without a retry. */
const retryAfterMs = 5_000

export interface Answer<T> {
  readonly value: T
  /** Absent if the resolver does not provide it. */
  readonly ttlSeconds?: number
}

export interface NameCacheOptions<T> {
  /** Rejects with the code `ENOTFOUND` or `ENODATA` if there is no such record, with another code if the lookup failed. */
  readonly resolve: (name: string) => Promise<Answer<T>>
  readonly clock: Clock
  /** Maximum number of cached answers; the least recently used one is evicted first. */
  readonly maxNames: () => number
  readonly limit: Limiter
  /** Called with the duration in seconds of each lookup that was not served from the cache, including failed ones. */
  readonly onLookup: (seconds: number) => void
}

interface Entry<T> {
  /** Negative answers (the error for a name that does not exist) are cached too. */
  readonly answer: { readonly value: T } | { readonly error: unknown }
  expiresAt: number
  /** Monotonic milliseconds from which a lookup refreshes it. */
  renewAt: number
  /** Monotonic milliseconds from which a lookup refreshes it if it is doubted. */
  renewableAt: number
}

export interface NameCache<T> {
  /** Rejects with the error of `resolve` if the name does not exist or was never resolved. */
  (name: string): Promise<T>
  /** Called if no server was reached by the answer: a server that has moved is found before the TTL ends, which may be an hour. */
  doubt(name: string): void
}

/** Whether there is no such record. Otherwise the lookup has failed. */
export const isNegative = (error: unknown): boolean => ['ENOTFOUND', 'ENODATA'].includes(codeOf(error))

/**
 * Caches name resolution. A name in use is refreshed before its answer expires, so that only the first lookup waits. While the
 * name servers fail, the last answer is used: the game servers may still be reachable.
 */
export function createNameCache<T>(options: NameCacheOptions<T>): NameCache<T> {
  const { resolve, clock, maxNames, limit, onLookup } = options
  /** In order of use, the least recently used first. */
  const entries = new Map<string, Entry<T>>()
  const pending = new Map<string, Promise<T>>()

  function store(name: string, answer: Entry<T>['answer'], lifetimeMs: number): void {
    const now = clock.now()
    const expiresAt = now + lifetimeMs
    entries.delete(name)
    entries.set(name, { answer, expiresAt, renewAt: expiresAt - lifetimeMs * renewalPart, renewableAt: now + minLifetimeMs })
    const max = maxNames()
    for (const [oldest] of entries) {
      if (entries.size <= max) break
      entries.delete(oldest)
    }
  }

  function fail(name: string, error: unknown): T {
    const entry = entries.get(name)
    if (isNegative(error)) store(name, { error }, minLifetimeMs)
    else if (entry !== undefined && 'value' in entry.answer) {
      entry.renewAt = clock.now() + retryAfterMs
      entry.renewableAt = entry.renewAt
      return entry.answer.value
    }
    throw error
  }

  function renew(name: string): Promise<T> {
    const started = clock.now()
    const renewal = limit(() => resolve(name))
      .finally(() => onLookup((clock.now() - started) / 1000))
      .then(
        ({ value, ttlSeconds }) => {
          const ttlMs = ttlSeconds === undefined ? defaultLifetimeMs : ttlSeconds * 1000
          store(name, { value }, Math.min(maxLifetimeMs, Math.max(minLifetimeMs, ttlMs)))
          return value
        },
        (error: unknown) => fail(name, error),
      )
      .finally(() => pending.delete(name))
    pending.set(name, renewal)
    return renewal
  }

  /** Returns the new answer, or the old one if the refresh takes too long. */
  const renewalOr = async (old: T, renewal: Promise<T>): Promise<T> => (await waitUpTo(renewal, maxWaitMs, clock)) ?? old

  const lookup = (name: string): Promise<T> => {
    const entry = entries.get(name)
    if (entry === undefined) return pending.get(name) ?? renew(name)
    entries.delete(name)
    entries.set(name, entry)
    const { answer, expiresAt, renewAt } = entry
    if (clock.now() < renewAt) return toPromise(answer)
    const renewal = pending.get(name) ?? renew(name)
    if (clock.now() >= expiresAt) return 'value' in answer ? renewalOr(answer.value, renewal) : renewal
    renewal.catch(() => {})
    return toPromise(answer)
  }

  function doubt(name: string): void {
    const entry = entries.get(name)
    if (entry === undefined) return
    entry.renewAt = Math.min(entry.renewAt, entry.renewableAt)
    entry.expiresAt = Math.min(entry.expiresAt, entry.renewableAt)
  }

  return Object.assign(lookup, { doubt })
}

const toPromise = <T>(answer: Entry<T>['answer']): Promise<T> =>
  'value' in answer ? Promise.resolve(answer.value) : Promise.reject(answer.error)
