import { expect, it } from 'vitest'
import { serverFamilies } from '../../exporter/families/index.ts'

it('serves no counter on /probe that only knows the polls of this service', () => {
  const counters = serverFamilies.filter(({ perPoll, type }) => perPoll && type === 'counter').map(({ name }) => name)
  // The game server's own.
  expect(counters).toEqual(['minecraft_ticks_total', 'minecraft_jvm_gc_collections_total', 'minecraft_jvm_gc_seconds_total'])
})
