import { expect, it } from 'vitest'
import { decodeBulkReply } from '../../../src/game/protocol/jolokia.ts'

it.each([
  ['java.lang:name=G1 Old Gen,type=MemoryPool', 'G1 Old Gen'],
  ['java.lang:type=MemoryPool,name=G1 Old Gen', 'G1 Old Gen'],
  ["java.lang:name=CodeHeap 'non-nmethods',type=MemoryPool", "CodeHeap 'non-nmethods'"],
  ['java.lang:name="a,b",type=MemoryPool', 'a,b'],
  ['java.lang:name=a,zone=b,type=MemoryPool', 'a'],
  ['java.lang:type=MemoryPool', ''],
])('reads the name of %s', (bean, name) => {
  const pools = { status: 200, value: { [bean]: { Usage: { used: 1 } } } }
  const { memoryPools } = decodeBulkReply(JSON.stringify([{ status: 404 }, pools, { status: 404 }, { status: 404 }]))
  expect(memoryPools).toEqual([{ name, usedBytes: 1 }])
})

const missing = { status: 404 }
const ok = (value: unknown) => ({ status: 200, value })
const decode = (...replies: readonly unknown[]) => decodeBulkReply(JSON.stringify(replies))

it('reads what each request returned, and leaves out what is missing or not valid', () => {
  const pools = {
    'a:name=a': { Usage: { used: 1, max: 2 } },
    'a:name=b': { Usage: { used: 0, max: -1 } },
    'a:name=c': { Usage: 5 },
  }
  const more = { 'a:name=d': { Usage: { used: '1' } }, 'a:name=e': { Usage: { used: -1 } }, 'a:name=f': 5, 'a:name=g': {} }
  const collectors = {
    'a:name=a': { CollectionCount: 3, CollectionTime: 1_500 },
    'a:name=b': { CollectionCount: 3 },
    'a:name=c': { CollectionTime: 3 },
    'a:name=d': null,
  }
  expect(decode(ok({ tickTimes: [] }), ok({ ...pools, ...more }), ok(collectors), ok({ ThreadCount: 7 }))).toStrictEqual({
    hasTickBean: true,
    memoryPools: [
      { name: 'a', usedBytes: 1, maxBytes: 2 },
      { name: 'b', usedBytes: 0 },
    ],
    garbageCollectors: [{ name: 'a', collections: 3, seconds: 1.5 }],
    threads: 7,
  })
  const nothing = { hasTickBean: false, memoryPools: [], garbageCollectors: [] }
  expect(decode(missing, missing, missing, missing)).toStrictEqual(nothing)
  expect(decode({ ...ok({ tickTimes: [1] }), status: 404 }, ok('odd'), ok([]), ok(null))).toStrictEqual(nothing)
})

it('computes the ticks of the last hundred, whatever their order', () => {
  const ring = Array.from({ length: 100 }, (_, index) => ((index * 37) % 100) * 1e6 + 1e6)
  const { ticks } = decode(ok({ tickTimes: [...ring, 9e9] }), missing, missing, missing)
  expect(ticks).toEqual({ mean: expect.closeTo(0.0505), p50: 0.05, p95: 0.095, p99: 0.099, max: 0.1, ring: ring.join() })
  expect(decode(ok({ tickTimes: [0, 0] }), missing, missing, missing)).not.toHaveProperty('ticks')
})

it('bounds the number of names and their length', () => {
  const pools = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`a:name=${'n'.repeat(150)},number=${index}`, { Usage: { used: index } }]),
  )
  const { memoryPools } = decode(missing, ok(pools), missing, missing)
  expect(memoryPools).toHaveLength(50)
  expect(memoryPools[0]?.name).toBe('n'.repeat(100))
})

it.each([
  ['{', /^the reply is /],
  ['{}', /^the reply is not a Jolokia reply to four requests$/],
  ['[]', /^the reply is not a Jolokia reply to four requests$/],
  ['{"length":4}', /^the reply is not a Jolokia reply to four requests$/],
  [JSON.stringify([missing, missing, missing]), /^the reply is not a Jolokia reply to four requests$/],
  [JSON.stringify([missing, missing, missing, null]), /^the reply has no status$/],
  [JSON.stringify([missing, missing, missing, {}]), /^the reply has no status$/],
  [JSON.stringify([missing, missing, missing, { status: '200' }]), /^the reply has no status$/],
  [JSON.stringify([ok({}), missing, missing, missing]), /^tickTimes is not an array$/],
  [JSON.stringify([ok({ tickTimes: [1, 'x'] }), missing, missing, missing]), /^tickTimes contains invalid durations$/],
  [JSON.stringify([ok({ tickTimes: [1, -1] }), missing, missing, missing]), /^tickTimes contains invalid durations$/],
])('does not understand %s', (text, message) =>
  expect(() => decodeBulkReply(text)).toThrow(
    expect.objectContaining({ code: 'malformed', message: expect.stringMatching(message) }),
  ),
)
