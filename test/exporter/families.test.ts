import { expect, it } from 'vitest'
import { serverFamilies } from '../../exporter/families/index.ts'

it('serves no counter on /probe that only counts the polls of this service', () => {
  const counters = serverFamilies.filter(({ perPoll, type }) => perPoll && type === 'counter').map(({ name }) => name)
  // Counters of the game server itself.
  expect(counters).toEqual(['minecraft_ticks_total', 'minecraft_jvm_gc_collections_total', 'minecraft_jvm_gc_seconds_total'])
})
