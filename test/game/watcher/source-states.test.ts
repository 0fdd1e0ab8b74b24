import { beforeEach, expect, it } from 'vitest'
import { SourceError } from '../../../src/game/errors.ts'
import type { RestingCommand, Source } from '../../../src/game/sources/source.ts'
import { SourceStates } from '../../../src/game/watcher/source-states.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const wallAt = (now: number) => 1_700_000_000_000 + now

let clock: ReturnType<typeof manualClock>
let logged: (readonly unknown[])[]
let states: SourceStates
beforeEach(() => {
  clock = manualClock(1_000)
  logged = []
  const log = {
    debug() {},
    error() {},
    info: (...given: readonly unknown[]) => void logged.push(['info', ...given]),
    warn: (...given: readonly unknown[]) => void logged.push(['warn', ...given]),
  }
  states = new SourceStates({ server: 'lobby', clock, log, settingNames: { MC_RCON_PASSWORD: 'rcon.password' } })
})

const source = (name: Source['name'], given: object = {}) => ({ name, target: `${name}:1`, ...given }) as Source
const rcon = source('rcon')
const refused = new SourceError('refused', 'connection refused', { hint: 'start it' })

it('is pending before the first poll, then ok, without an error', () => {
  expect(states.of(rcon)).toStrictEqual({ source: 'rcon', target: 'rcon:1', state: 'pending' })
  states.ok(rcon, 0.25)
  expect(states.of(rcon)).toStrictEqual({
    source: 'rcon',
    target: 'rcon:1',
    state: 'ok',
    duration: 0.25,
    lastSuccess: wallAt(1_000),
  })
  expect(states.of(source('status'))).toMatchObject({ state: 'pending' })
  expect(logged).toEqual([])
})

it('keeps the last success and the last error, and logs changes only', async () => {
  states.ok(rcon, 0.25)
  await clock.advance(1_000)
  states.failed(rcon, 3, refused)
  const lastError = { code: 'refused', message: 'connection refused; start it', at: wallAt(2_000) }
  const { at: _, ...error } = lastError
  expect(states.of(rcon)).toStrictEqual({
    ...{ source: 'rcon', target: 'rcon:1', state: 'failed', duration: 3 },
    ...{ error, lastError, lastSuccess: wallAt(1_000) },
  })
  await clock.advance(1_000)
  // A source that waits for its next attempt.
  states.failed(rcon, 0, refused)
  expect(states.of(rcon).lastError).toEqual(lastError)
  states.failed(rcon, 0, new SourceError('refused', 'connection refused', { hint: 'start it' }))
  expect(states.of(rcon).lastError).toEqual({ ...lastError, at: wallAt(3_000) })
  await clock.advance(1_000)
  states.ok(rcon, 0.5)
  states.ok(rcon, 0.5)
  expect(states.of(rcon)).toStrictEqual({
    ...{ source: 'rcon', target: 'rcon:1', state: 'ok', duration: 0.5, lastSuccess: wallAt(4_000) },
    lastError: { ...lastError, at: wallAt(3_000) },
  })
  // The same error again after a success is another failure.
  states.failed(rcon, 0, refused)
  expect(states.of(rcon).lastError).toEqual({ ...lastError, at: wallAt(4_000) })
  const warning = [
    'warn',
    { server: 'lobby', source: 'rcon', code: 'refused' },
    'lobby: rcon failed (refused): connection refused; start it',
  ]
  expect(logged).toEqual([
    warning,
    ['info', { server: 'lobby', source: 'rcon' }, 'lobby: rcon is reachable again (rcon:1)'],
    warning,
  ])
})

it('has no last success before the first one', () => {
  states.failed(rcon, 3, refused)
  expect(states.of(rcon)).not.toHaveProperty('lastSuccess')
})

it.each([
  [rcon, new SourceError('auth', 'login refused'), 'login refused; the password (rcon.password) must be the rcon.password of'],
  [source('rcon', { hints: { auth: 'own hint' } }), new SourceError('auth', 'login refused'), 'login refused; own hint'],
  [
    source('rcon', { hints: { auth: 'own' } }),
    new SourceError('auth', 'refused', { hint: 'set MC_RCON_PASSWORD' }),
    'refused; set rcon.password',
  ],
  [rcon, new SourceError('timeout', 'late', { progress: 'connected' }), 'late; the connection is accepted, but not the login'],
  [
    source('rcon', { hints: { timeout: 'own' } }),
    new SourceError('timeout', 'late', { progress: 'accepted' }),
    'late; the login is accepted',
  ],
  [source('rcon', { hints: { timeout: 'own' } }), new SourceError('timeout', 'late'), 'late; own'],
  [source('directory'), new SourceError('timeout', 'late', { progress: 'connected' }), 'late'],
  [rcon, new SourceError('internal', 'a fault'), 'a fault'],
])('says what to check: %#', (from, error, message) => {
  states.failed(from, 1, error)
  const told = states.of(from).error?.message ?? ''
  expect(told.startsWith(message)).toBe(true)
  if (!message.includes('; ')) expect(told).not.toContain('undefined')
})

it('has the failures of parts, which are the same while the same parts fail', async () => {
  const failures = [new SourceError('malformed', 'no players'), new SourceError('timeout', 'no ticks')]
  const error = { code: 'malformed', message: 'no players; no ticks' }
  states.ok(rcon, 0.25, failures)
  const partial = { source: 'rcon', target: 'rcon:1', state: 'partial', duration: 0.25, error }
  expect(states.of(rcon)).toStrictEqual({ ...partial, lastSuccess: wallAt(1_000), lastError: { ...error, at: wallAt(1_000) } })
  await clock.advance(1_000)
  states.ok(rcon, 0.25, failures)
  expect(states.of(rcon)).toStrictEqual({ ...partial, lastSuccess: wallAt(2_000), lastError: { ...error, at: wallAt(1_000) } })
  // The time of an error, for example, is no other failure to the log.
  states.ok(rcon, 0.25, [new SourceError('malformed', 'no players at 12:00')])
  expect(logged).toEqual([
    [
      'warn',
      { server: 'lobby', source: 'rcon', code: 'malformed' },
      'lobby: parts of rcon failed (malformed): no players; no ticks',
    ],
  ])
  states.ok(rcon, 0.25, failures.slice(1))
  const other = { code: 'timeout', message: 'no ticks', at: wallAt(2_000) }
  expect(states.of(rcon).lastError).toStrictEqual(other)
  expect(logged).toHaveLength(2)
  expect(logged[1]?.[2]).toBe('lobby: parts of rcon failed (timeout): no ticks')
  await clock.advance(1_000)
  states.ok(rcon, 0.25)
  expect(states.of(rcon)).toMatchObject({ state: 'ok', lastError: other })
  expect(states.of(rcon)).not.toHaveProperty('error')
  states.ok(rcon, 0.25, failures.slice(1))
  expect(states.of(rcon).lastError).toStrictEqual({ ...other, at: wallAt(3_000) })
  // A failure of the whole source with the same words.
  states.failed(rcon, 1, new SourceError('closed', 'no ticks', { hint: 'none' }))
  await clock.advance(1_000)
  states.ok(rcon, 0.25, [new SourceError('closed', 'no ticks; none')])
  expect(states.of(rcon).lastError).toMatchObject({ at: wallAt(4_000) })
})

it('has the commands that are not sent for a while', async () => {
  let resting: readonly RestingCommand[] = []
  const tired = source('rcon', { resting: () => resting })
  states.ok(tired, 0.25)
  expect(states.of(tired)).not.toHaveProperty('resting')
  resting = [{ command: 'tick query', until: 5_000 }]
  clock.jump(100)
  expect(states.of(tired)).toMatchObject({ state: 'ok', resting: [{ command: 'tick query', until: wallAt(5_100) }] })
  expect(states.of(source('status', { resting: () => [] }))).not.toHaveProperty('resting')
})

it('drops what is no longer listed, or has another target', () => {
  const [status, query] = [source('status'), source('query')]
  for (const each of [rcon, status, query]) states.ok(each, 0.25)
  states.failed(status, 1, refused)
  states.keepOnly([rcon, status, query])
  expect([rcon, status, query].map((each) => states.of(each).state)).toEqual(['ok', 'failed', 'ok'])
  states.keepOnly([rcon, status, source('jmx', { target: query.target })])
  expect(states.of(query).state).toBe('pending')
  states.keepOnly([rcon, { ...status, target: 'elsewhere:1' }])
  expect([rcon, status, query].map((each) => states.of(each).state)).toEqual(['ok', 'pending', 'pending'])
})
