import { expect, it } from 'vitest'
import { Reachability } from '../../../src/game/watcher/reachability.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { scriptedSource } from '../../helpers/scripted-source.ts'

const clock = manualClock(0)
const status = scriptedSource('status', clock)
const rcon = scriptedSource('rcon', clock)
const directory = scriptedSource('directory', clock)
const all = [status, rcon, directory]
const create = () => new Reachability(({ name }) => name !== 'directory')

it('is unknown until one source has reached the server or all have failed to', () => {
  const reachability = create()
  reachability.update(all)
  expect(reachability.up).toBeUndefined()
  reachability.missed(status)
  reachability.update(all)
  expect(reachability.up).toBeUndefined()
  reachability.missed(rcon)
  reachability.update(all)
  expect(reachability.up).toBe(false)
})

it('is up immediately when any source reaches a server that was down', () => {
  const reachability = create()
  reachability.missed(status)
  reachability.missed(rcon)
  reachability.update(all)
  expect(reachability.reached(rcon)).toBe(true)
  expect(reachability.up).toBe(true)
  expect(reachability.reached(status)).toBe(false)
})

it('is down while a proxy answers for the stopped server, whatever other sources reach', () => {
  const reachability = create()
  reachability.reached(rcon)
  reachability.missed(status, true)
  reachability.update(all)
  expect([reachability.up, reachability.isAsleep]).toEqual([false, true])
  expect(reachability.reached(rcon)).toBe(false)
  expect(reachability.up).toBe(false)
  reachability.missed(status)
  expect(reachability.isAsleep).toBe(false)
  reachability.missed(status, true)
  expect(reachability.reached(status)).toBe(true)
  expect([reachability.up, reachability.isAsleep]).toEqual([true, false])
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
  reachability.update([directory])
  expect(reachability.up).toBeUndefined()
  reachability.missed(status)
  reachability.update([status, directory])
  expect(reachability.up).toBe(false)
  reachability.update([directory])
  expect(reachability.up).toBeUndefined()
})

it('drops a source that is no longer listed', () => {
  const reachability = create()
  reachability.reached(rcon)
  reachability.missed(status)
  reachability.update([status])
  expect(reachability.hasReached(rcon)).toBeUndefined()
  expect(reachability.up).toBe(false)
})

it('stays up while one source reaches the server', () => {
  const reachability = create()
  reachability.reached(rcon)
  reachability.missed(status)
  reachability.update(all)
  expect(reachability.up).toBe(true)
  reachability.missed(rcon)
  reachability.reached(status)
  reachability.update(all)
  expect([reachability.up, reachability.hasReached(rcon), reachability.hasReached(status)]).toEqual([true, false, true])
  reachability.missed(status)
  reachability.update(all)
  expect(reachability.up).toBe(false)
  expect(reachability.reached(status)).toBe(true)
})
