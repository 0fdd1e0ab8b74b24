import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import type { GivenSources } from '../../../src/game/server.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import type { SourceSet } from '../../../src/game/sources/source.ts'
import { silentLog } from '../../../src/log.ts'

const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
const address = { edition: 'java', host: 'mc.test', port: 25570 } as const

let set: SourceSet | undefined
afterEach(() => set?.close())

function targets(sources: GivenSources): unknown {
  set = createSources({ name: 'Server', sources }, context)
  return set.list().map(({ name, target }) => `${name} ${target}`)
}

it('makes the sources that have all that they require, in the order of the list', () => {
  expect(targets({})).toEqual([])
  expect(
    targets({
      query: { address: { host: 'q.test', port: 1 } },
      management: { url: 'ws://m.test:2/', secret: 's' },
      rcon: { address: { host: 'r.test', port: 3 }, password: 'p' },
      status: { address },
    }),
  ).toEqual(['status mc.test:25570', 'rcon r.test:3', 'management ws://m.test:2', 'query q.test:1'])
})

it('leaves out a source that lacks something', () => {
  expect(targets({ status: { address }, rcon: { address }, management: { url: 'ws://m.test:2/' } })).toEqual([
    'status mc.test:25570',
  ])
})

it('reaches RCON at the address of the server where only its password is set', () => {
  expect(targets({ status: { address }, rcon: { password: 'p' } })).toEqual(['status mc.test:25570', 'rcon mc.test:25575'])
  expect(targets({ rcon: { password: 'p' } })).toEqual([])
})

it('has nothing to refresh without a directory', () => {
  expect(targets({ status: { address } })).toEqual(['status mc.test:25570'])
  expect(set?.refresh).toBeUndefined()
})
