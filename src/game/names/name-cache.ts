import type { Clock } from '../../clock.ts'
import type { Limiter } from './limiter.ts'

/** Milliseconds that an answer is used at least, also that a name does not exist: not every poll needs a query. */
const minLifetimeMs = 30_000
/** Milliseconds that an answer is used at most, whatever its TTL. */
const maxLifetimeMs = 3_600_000
/** Milliseconds that an answer is used whose TTL the resolver does not tell. */
const defaultLifetimeMs = 60_000
/** The last part of an answer's lifetime, in which a lookup renews it without waiting for the new answer. */
const renewalPart = 1 / 3
/** Milliseconds that the lookup of an expired name waits for a new answer, before it uses the old one. */
const maxWaitMs = 250
/** Milliseconds after a failed renewal in which the old answer is used without another attempt. */
const retryAfterMs = 5_000

export interface Answer<T> {
  readonly value: T
  /** Absent where the resolver does not tell it. */
  readonly ttlSeconds?: number
}

export interface NameCacheOptions<T> {
  /** Rejects with the code `ENOTFOUND` or `ENODATA` if there is no such record, with another one if there was no answer. */
  readonly resolve: (name: string) => Promise<Answer<T>>
  readonly clock: Clock
  /** Answers to keep, at each time; the one not used for longest is evicted first. */
  readonly maxNames: () => number
  readonly limit: Limiter
  /** Called with the seconds from the request to the answer of each lookup that the cache could not serve; failed ones too. */
  readonly onLookup: (seconds: number) => void
}

interface Entry<T> {
  /** The error of a name that does not exist is an answer like any other. */
  readonly answer: { readonly value: T } | { readonly error: unknown }
  readonly expiresAt: number
  /** From when on a lookup renews it. */
  renewAt: number
}

const isNegative = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA')

/**
 * Caches what names resolve to. A name in use is renewed before its answer expires, so that only its first lookup waits for a name
 * server. While name servers fail, the last answer stays in use: their trouble is not the game servers'.
 * @returns a function that rejects with the error of `resolve`, for a name that does not exist or was never resolved
 */
export function createNameCache<T>(options: NameCacheOptions<T>): (name: string) => Promise<T> {
  const { resolve, clock, maxNames, limit, onLookup } = options
  /** The least recently used first. */
  const entries = new Map<string, Entry<T>>()
  const pending = new Map<string, Promise<T>>()

  function store(name: string, answer: Entry<T>['answer'], lifetimeMs: number): void {
    const expiresAt = clock.now() + lifetimeMs
    entries.delete(name)
    entries.set(name, { answer, expiresAt, renewAt: expiresAt - lifetimeMs * renewalPart })
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

  /** The new answer, or the old one if that takes too long. */
  function renewalOr(old: T, renewal: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(maxWaitMs, () => resolve(old))
      renewal.then(resolve, reject).finally(cancel)
    })
  }

  return (name) => {
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
}

const toPromise = <T>(answer: Entry<T>['answer']): Promise<T> =>
  'value' in answer ? Promise.resolve(answer.value) : Promise.reject(answer.error)
