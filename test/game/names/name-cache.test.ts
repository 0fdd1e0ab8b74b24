import { describe, expect, it } from 'vitest'
import { type Answer, createNameCache } from '../../../src/game/names/name-cache.ts'
import { createLimiter } from '../../../src/util/limiter.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

/** A cache of a resolver that is controlled by the test. */
function scripted({ maxNames = 100, maxConcurrent = 100 } = {}) {
  const clock = manualClock()
  const took: number[] = []
  const queries: { readonly name: string; answer(value: string, ttlSeconds?: number): void; fail(code: string): void }[] = []
  const resolve = (name: string) =>
    new Promise<Answer<string>>((resolve, reject) => {
      queries.push({
        name,
        answer: (value, ttlSeconds) => resolve({ value, ...(ttlSeconds !== undefined && { ttlSeconds }) }),
        fail: (code) => reject(Object.assign(new Error(code), { code })),
      })
    })
  const limit = createLimiter(() => maxConcurrent)
  const lookup = createNameCache({ resolve, clock, maxNames: () => maxNames, limit, onLookup: (seconds) => took.push(seconds) })
  /** Resolves a name to `old`, and removes the query from the record. */
  const resolved = async (name: string, ttlSeconds?: number) => {
    const found = lookup(name)
    queries.at(-1)?.answer('old', ttlSeconds)
    expect(await found).toBe('old')
    queries.length = 0
  }
  return { clock, took, queries, lookup, resolved }
}

describe('the name cache', () => {
  it('sends one query for concurrent lookups of a name', async () => {
    const { queries, lookup } = scripted()
    const both = Promise.all([lookup('a'), lookup('a')])
    expect(queries).toHaveLength(1)
    queries[0]?.answer('new')
    expect(await both).toEqual(['new', 'new'])
  })

  it.each([
    ['30 s at least', 1, 30],
    ['its TTL', 300, 300],
    ['an hour at most', 86_400, 3_600],
    ['a minute where the TTL is unknown', undefined, 60],
  ])('caches an answer for %s, and refreshes it in the last third of that', async (_, ttl, lifetime) => {
    const { clock, queries, lookup, resolved } = scripted()
    await resolved('a', ttl)
    await clock.advance((lifetime * 1000 * 2) / 3 - 1)
    expect(await lookup('a')).toBe('old')
    expect(queries).toHaveLength(0)
    await clock.advance(1)
    expect(await lookup('a')).toBe('old')
    expect(queries).toHaveLength(1)
    queries[0]?.answer('new', ttl)
    await clock.advance((lifetime * 1000) / 3)
    expect(await lookup('a')).toBe('new')
    expect(queries).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  it('waits a short time for the new answer if the old one has expired', async () => {
    const { clock, queries, lookup, resolved } = scripted()
    await resolved('a')
    await clock.advance(60_000)
    const quick = lookup('a')
    queries[0]?.answer('new')
    expect(await quick).toBe('new')
    await clock.advance(60_000)
    const slow = lookup('a')
    await clock.advance(250)
    expect(await slow).toBe('new')
    queries[1]?.answer('newest')
    await clock.advance(0)
    expect(await lookup('a')).toBe('newest')
    expect(clock.pending).toBe(0)
  })

  it('uses the last answer while name servers fail, and retries after 5 s', async () => {
    const { clock, queries, lookup, resolved } = scripted()
    await resolved('a')
    await clock.advance(60_000)
    const failed = lookup('a')
    queries[0]?.fail('ETIMEOUT')
    expect(await failed).toBe('old')
    expect(await lookup('a')).toBe('old')
    expect(queries).toHaveLength(1)
    await clock.advance(5_000)
    void lookup('a')
    expect(queries).toHaveLength(2)
  })

  it('waits for a new answer after it was doubted, but not for 30 s after the last one, nor while name servers fail', async () => {
    const { clock, queries, lookup, resolved } = scripted()
    lookup.doubt('a')
    await resolved('a', 600)
    lookup.doubt('a')
    await clock.advance(29_999)
    expect(await lookup('a')).toBe('old')
    expect(queries).toHaveLength(0)
    await clock.advance(1)
    const failing = lookup('a')
    queries.at(-1)?.fail('ESERVFAIL')
    expect(await failing).toBe('old')
    lookup.doubt('a')
    await clock.advance(4_999)
    expect(await lookup('a')).toBe('old')
    expect(queries).toHaveLength(1)
    await clock.advance(1)
    const found = lookup('a')
    queries.at(-1)?.answer('new', 600)
    expect(await found).toBe('new')
    await clock.advance(60_000)
    expect(await lookup('a')).toBe('new')
    lookup.doubt('a')
    const again = lookup('a')
    queries.at(-1)?.answer('newest')
    expect(await again).toBe('newest')
    expect(queries).toHaveLength(3)
  })

  it('caches for 30 s that a name does not exist, whatever it resolved to before', async () => {
    const { clock, queries, lookup, resolved } = scripted()
    await resolved('a')
    await clock.advance(60_000)
    const gone = lookup('a')
    queries[0]?.fail('ENOTFOUND')
    await expect(gone).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(lookup('a')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(queries).toHaveLength(1)
    await clock.advance(30_000)
    const again = lookup('a')
    queries[1]?.answer('back')
    expect(await again).toBe('back')
  })

  it('does not cache the failure of a name that was never resolved', async () => {
    const { queries, lookup } = scripted()
    const failed = lookup('a')
    queries[0]?.fail('EAI_AGAIN')
    await expect(failed).rejects.toMatchObject({ code: 'EAI_AGAIN' })
    void lookup('a')
    expect(queries).toHaveLength(2)
  })

  it('evicts the least recently used name', async () => {
    const { queries, lookup, resolved } = scripted({ maxNames: 2 })
    await resolved('a')
    await resolved('b')
    await lookup('a')
    await resolved('c')
    await lookup('a')
    await lookup('c')
    expect(queries).toHaveLength(0)
    void lookup('b')
    expect(queries).toHaveLength(1)
  })

  it('limits concurrent lookups without delaying cached names', async () => {
    const { queries, lookup, resolved } = scripted({ maxConcurrent: 2 })
    await resolved('a')
    const silent = ['b', 'c', 'd'].map((name) => lookup(name))
    expect(queries.map(({ name }) => name)).toEqual(['b', 'c'])
    expect(await lookup('a')).toBe('old')
    queries[0]?.answer('b')
    expect(await silent[0]).toBe('b')
    expect(queries.map(({ name }) => name)).toEqual(['b', 'c', 'd'])
  })

  it('measures lookups that were not cached, including failed ones and time in the queue', async () => {
    const { clock, took, queries, lookup } = scripted({ maxConcurrent: 1 })
    const first = lookup('a')
    const second = lookup('b').catch(() => 'failed')
    await clock.advance(1_000)
    queries[0]?.answer('a')
    await first
    await clock.advance(500)
    queries[1]?.fail('ETIMEOUT')
    expect(await second).toBe('failed')
    await lookup('a')
    expect(took).toEqual([1, 1.5])
  })
})
