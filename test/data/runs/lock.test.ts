import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/clock.ts'
import { withGuard } from '../../../src/data/runs/guard.ts'
import { takeLock } from '../../../src/data/runs/lock.ts'
import { until } from '../../helpers/until.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const take = (name: string, clock: Clock = systemClock) => takeLock({ folder, name, clock, taken: '2026-01-01T00:00:00.000Z' })

/** Has its turn until it is told to end. */
function hold(name: string) {
  let end = () => {}
  let held = false
  const over = withGuard(folder, name, async () => {
    held = true
    await new Promise<void>((resolve) => {
      end = resolve
    })
  })
  return { held: () => held, end: () => end(), over, changed: () => statSync(join(folder, `.${name}.guard`)).mtimeMs }
}

it('keeps two names of one folder apart, however long they are held', async () => {
  const holds = ['runs', 'projects'].map(hold)
  await until(() => holds.every(({ held }) => held()))
  const taken = holds.map(({ changed }) => changed())
  // A sign of life of both, after which the timer of each has run once.
  await until(() => holds.every(({ changed }, index) => changed() !== taken[index]))
  for (const { end } of holds) end()
  await Promise.all(holds.map(({ over }) => over))
  expect(readdirSync(folder)).toEqual([])
})

it('gives back the guard that it holds and no other', async () => {
  const [first, second] = ['runs', 'projects'].map(hold) as [ReturnType<typeof hold>, ReturnType<typeof hold>]
  await until(() => first.held() && second.held())
  first.end()
  await first.over
  expect(readdirSync(folder)).toEqual(['.projects.guard'])
  second.end()
  await second.over
  expect(readdirSync(folder)).toEqual([])
})

it('takes and gives back many locks of one folder at once', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `script-${index}`)
  const locks = await Promise.all(names.map((name) => take(name)))
  expect(locks).not.toContain(undefined)
  await Promise.all(locks.map((lock) => lock?.release()))
  expect(readdirSync(folder)).toEqual([])
})

it('believes a process of another user to be alive', async () => {
  await take('runs')
  const path = join(folder, '.runs.lock')
  const own = JSON.parse(readFileSync(path, 'utf8')) as object
  // The first process of a system may not be sent a signal, unless by root.
  const since = existsSync('/proc/1/stat')
    ? readFileSync('/proc/1/stat', 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19]
    : ''
  writeFileSync(path, JSON.stringify({ ...own, pid: 1, since }))
  expect(await take('runs')).toBeUndefined()
  writeFileSync(path, JSON.stringify({ ...own, pid: 1, since: '1' }))
  const lock = await take('runs')
  expect(lock).toBeDefined()
  await lock?.release()
})

it('outlives a guard that somebody removed', async () => {
  const held = hold('runs')
  await until(held.held)
  rmdirSync(join(folder, '.runs.guard'))
  const next = hold('runs')
  await until(next.held)
  const taken = next.changed()
  await until(() => next.changed() !== taken)
  held.end()
  next.end()
  await Promise.all([held.over, next.over])
})
