import { beforeEach, expect, it } from 'vitest'
import type { Source } from '../../../src/game/sources/source.ts'
import { Reachability } from '../../../src/game/watcher/reachability.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { scriptedSource } from '../../helpers/scripted-source.ts'

const clock = manualClock(0)
const status = scriptedSource('status', clock)
const rcon = scriptedSource('rcon', clock)
const directory = scriptedSource('directory', clock)
const all = [status, rcon, directory]
let list: readonly Source[] = all
const create = () =>
  new Reachability(
    ({ name }) => name !== 'directory',
    () => list,
  )

beforeEach(() => {
  list = all
})

it('is unknown until one source has reached the server or all have failed to', () => {
  const reachability = create()
  reachability.update()
  expect(reachability.up).toBeUndefined()
  reachability.missed(status)
  reachability.update()
  expect(reachability.up).toBeUndefined()
  reachability.missed(rcon)
  reachability.update()
  expect(reachability.up).toBe(false)
})

it('is up immediately when any source reaches a server that was down', () => {
  const reachability = create()
  reachability.missed(status)
  reachability.missed(rcon)
  reachability.update()
  expect(reachability.reached(rcon)).toBe(true)
  expect(reachability.up).toBe(true)
  expect(reachability.reached(status)).toBe(false)
})

it('is down while a proxy answers for the stopped server, whatever other sources reach', () => {
  const detecting = Object.assign(scriptedSource('status', clock), { detectsSleep: true })
  list = [detecting, rcon]
  const reachability = create()
  reachability.reached(rcon)
  reachability.missed(detecting, true)
  reachability.update()
  expect([reachability.up, reachability.mayBeAsleep]).toEqual([false, true])
  expect(reachability.reached(rcon)).toBe(false)
  expect(reachability.up).toBe(false)
  expect(reachability.reached(detecting)).toBe(true)
  expect([reachability.up, reachability.mayBeAsleep]).toEqual([true, false])
})

it('is unknown, not up, if the source that found it asleep fails once', () => {
  const detecting = Object.assign(scriptedSource('status', clock), { detectsSleep: true })
  list = [detecting, rcon]
  const reachability = create()
  reachability.missed(detecting, true)
  reachability.missed(detecting)
  expect(reachability.reached(rcon)).toBe(false)
  reachability.update()
  expect([reachability.up, reachability.mayBeAsleep]).toEqual([undefined, true])
  reachability.missed(detecting)
  reachability.update()
  expect([reachability.up, reachability.mayBeAsleep]).toEqual([true, false])
})

it('is unknown until the source that detects a sleeping server has been polled', () => {
  const detecting = Object.assign(scriptedSource('status', clock), { detectsSleep: true })
  list = [detecting, rcon]
  const reachability = create()
  reachability.reached(rcon)
  reachability.update()
  expect([reachability.up, reachability.isContact(rcon)]).toEqual([undefined, false])
  reachability.missed(detecting)
  reachability.update()
  expect([reachability.up, reachability.isContact(rcon)]).toEqual([true, true])
  // It is created again when its settings change.
  list = [Object.assign(scriptedSource('status', clock), { detectsSleep: true }), rcon]
  reachability.update()
  expect(reachability.up).toBe(true)
})

it('does not count a directory', () => {
  const reachability = create()
  expect(reachability.reached(directory)).toBe(false)
  expect(reachability.up).toBeUndefined()
  expect(reachability.hasReached(directory)).toBe(true)
})

it('is unknown if no source connects to the server', () => {
  const reachability = create()
  reachability.missed(directory)
  list = [directory]
  reachability.update()
  expect(reachability.up).toBeUndefined()
  reachability.missed(status)
  list = [status, directory]
  reachability.update()
  expect(reachability.up).toBe(false)
  list = [directory]
  reachability.update()
  expect(reachability.up).toBeUndefined()
})

it('drops a source that is no longer listed', () => {
  const reachability = create()
  reachability.reached(rcon)
  reachability.missed(status)
  list = [status]
  reachability.update()
  expect(reachability.hasReached(rcon)).toBeUndefined()
  expect(reachability.up).toBe(false)
})

it('stays up while one source reaches the server', () => {
  const reachability = create()
  reachability.reached(rcon)
  reachability.missed(status)
  reachability.update()
  expect(reachability.up).toBe(true)
  reachability.missed(rcon)
  reachability.reached(status)
  reachability.update()
  expect([reachability.up, reachability.hasReached(rcon), reachability.hasReached(status)]).toEqual([true, false, true])
  reachability.missed(status)
  reachability.update()
  expect(reachability.up).toBe(false)
  expect(reachability.reached(status)).toBe(true)
})
