import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/clock.ts'
import { withGuard } from '../../../src/data/runs/guard.ts'
import { takeLock } from '../../../src/data/runs/lock.ts'
import { waitForCertainty } from '../../../src/data/runs/lock-holder.ts'
import { until } from '../../helpers/until.ts'

const hour = 3_600_000
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const take = (name: string, clock: Clock = systemClock) => takeLock({ folder, name, clock, taken: '2026-01-01T00:00:00.000Z' })

/** Holds the lock until it is released. */
function hold(name: string, at = folder) {
  let end = () => {}
  let held = false
  const over = withGuard(at, name, async () => {
    held = true
    await new Promise<void>((resolve) => {
      end = resolve
    })
  })
  return { held: () => held, end: () => end(), over, changed: () => statSync(join(at, `.${name}.guard`)).mtimeMs }
}

it('holds two guards with different names in one folder', async () => {
  const holds = ['runs', 'projects'].map((name) => hold(name))
  await until(() => holds.every(({ held }) => held()))
  const taken = holds.map(({ changed }) => changed())
  // A heartbeat of both, after which the timer of each has run once.
  await until(() => holds.every(({ changed }, index) => changed() !== taken[index]))
  for (const { end } of holds) end()
  await Promise.all(holds.map(({ over }) => over))
  expect(readdirSync(folder)).toEqual([])
})

it('releases the guard that it holds and no other', async () => {
  const [first, second] = ['runs', 'projects'].map((name) => hold(name)) as [ReturnType<typeof hold>, ReturnType<typeof hold>]
  await until(() => first.held() && second.held())
  first.end()
  await first.over
  expect(readdirSync(folder)).toEqual(['.projects.guard'])
  second.end()
  await second.over
  expect(readdirSync(folder)).toEqual([])
})

it('takes and releases many locks of one folder at the same time', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `script-${index}`)
  const locks = await Promise.all(names.map((name) => take(name)))
  expect(locks).not.toContain(undefined)
  await Promise.all(locks.map((lock) => lock?.release()))
  expect(readdirSync(folder)).toEqual([])
})

it('treats a process of another user as alive', async () => {
  await take('runs')
  const path = join(folder, '.runs.lock')
  const own = JSON.parse(readFileSync(path, 'utf8')) as object
  // Only root may send a signal to the first process of a system.
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

it('does not fail if its guard is removed', async () => {
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

it('treats a guard as stale if it does not change, even if its time is an hour off', { timeout: 30_000 }, async () => {
  async function outlive(off: number): Promise<void> {
    const own = mkdtempSync(join(folder, 'guard-'))
    const guard = join(own, '.runs.guard')
    mkdirSync(guard)
    const started = performance.now()
    const heartbeat = () => {
      const time = new Date(Date.now() + off)
      utimesSync(guard, time, time)
    }
    heartbeat()
    const next = hold('runs', own)
    // Its holder lives for a while, and is then killed.
    const beats = setInterval(heartbeat, 100)
    await until(() => performance.now() - started > 1_000)
    clearInterval(beats)
    expect(next.held(), `${off} ms`).toBe(false)
    await until(next.held)
    expect(performance.now() - started, `${off} ms`).toBeGreaterThan(5_000)
    next.end()
    await next.over
    expect(readdirSync(own)).toEqual([])
  }
  await Promise.all([-hour, hour].map(outlive))
})

/** A clock that the test advances. */
function still() {
  let now = 0
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { clock: { ...systemClock, now: () => now }, pass }
}
const lockFile = () => join(folder, '.runs.lock')
const foreign = (more: object = {}) => JSON.stringify({ machine: 'another one', pid: 1, since: '1', ...more })

it.each([-hour, 0, hour])(
  'takes over from a machine whose clock is %d ms off only after a minute without a heartbeat',
  async (off) => {
    const { clock, pass } = still()
    writeFileSync(lockFile(), foreign())
    const beat = (number: number) => {
      const time = new Date(Date.now() + off + number * 10_000)
      utimesSync(lockFile(), time, time)
    }
    for (let number = 0; number < 20; number++) {
      beat(number)
      expect(await take('runs', clock)).toBeUndefined()
      pass(10_000)
    }
    pass(49_999)
    expect(await take('runs', clock)).toBeUndefined()
    pass(1)
    const lock = await take('runs', clock)
    expect(lock).toBeDefined()
    await lock?.release()
    expect(readdirSync(folder)).toEqual([])
  },
)

it('does not take over from a process whose start time is unknown', async () => {
  const { clock, pass } = still()
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  try {
    await (await take('other', clock))?.release()
    const { machine } = await import('../../../src/data/runs/process-identity.ts')
    // As with hidepid.
    writeFileSync(lockFile(), JSON.stringify({ machine, pid: child.pid, since: '' }))
    expect(await take('runs', clock)).toBeUndefined()
    pass(30_000)
    utimesSync(lockFile(), new Date(), new Date(1))
    expect(await take('runs', clock)).toBeUndefined()
    pass(59_999)
    expect(await take('runs', clock)).toBeUndefined()
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  // The process has ended, which every user can check.
  const lock = await take('runs', clock)
  expect(lock).toBeDefined()
  await lock?.release()
})

it('takes over a lock that this process failed to release', async () => {
  const lock = await take('runs')
  const text = readFileSync(lockFile(), 'utf8')
  await lock?.release()
  writeFileSync(lockFile(), text)
  const next = await take('runs')
  expect(next).toBeDefined()
  expect(await take('runs')).toBeUndefined()
  await next?.release()
})

it('releases only its own lock, and never rejects', async () => {
  const lock = await take('runs')
  writeFileSync(`${lockFile()}.other`, foreign())
  renameSync(`${lockFile()}.other`, lockFile())
  await lock?.release()
  expect(readFileSync(lockFile(), 'utf8')).toBe(foreign())
  rmSync(folder, { recursive: true })
  await lock?.release()
  mkdirSync(folder)
})

it('waits until it is certain whether a lock is held', async () => {
  const { clock, pass } = still()
  const hasty = {
    ...clock,
    after(delay: number, action: () => void) {
      pass(delay)
      setImmediate(action)
      return () => {}
    },
  }
  const { signal } = new AbortController()
  writeFileSync(lockFile(), foreign())
  expect(await waitForCertainty({ folder, name: 'runs', clock: hasty }, signal)).toBe(true)
  // Another holder, which sends a heartbeat after 20 checks.
  writeFileSync(lockFile(), foreign({ pid: 2 }))
  let checks = 0
  const watched = {
    ...hasty,
    after(delay: number, action: () => void) {
      if (++checks === 20) utimesSync(lockFile(), new Date(), new Date(5000))
      return hasty.after(delay, action)
    },
  }
  expect(await waitForCertainty({ folder, name: 'runs', clock: watched }, signal)).toBe(false)
  expect(checks).toBe(20)
})
