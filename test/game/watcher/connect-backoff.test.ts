import { expect, it } from 'vitest'
import { SourceError } from '../../../src/game/errors.ts'
import { createConnectBackoffs } from '../../../src/game/watcher/connect-backoff.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { never } from '../../helpers/never.ts'

const refused = () => new SourceError('refused', 'rcon.test:1: connection refused')
const wrong = () => new SourceError('auth', 'rcon.test:1: wrong password')

it('makes no attempt during the pause after a failure, which doubles up to 30 s', async () => {
  const clock = manualClock(0)
  const backoff = createConnectBackoffs(clock, () => 0).acquire('rcon', 'rcon.test:1', 'secret')
  let attempts = 0
  const attempt = () =>
    backoff.attempt(async () => {
      attempts++
      throw refused()
    }, never())
  for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    const before = attempts
    const error = await attempt().catch((thrown) => thrown)
    expect(attempts).toBe(before + 1)
    await clock.advance(pause - 1)
    // The same failure: it is not counted again.
    await expect(attempt()).rejects.toBe(error)
    expect(attempts).toBe(before + 1)
    await clock.advance(1)
  }
  backoff.succeeded()
  await expect(backoff.attempt(async () => 'connected', never())).resolves.toBe('connected')
})

it('shares a rejected password among all sessions for five minutes', async () => {
  const clock = manualClock(0)
  const backoffs = createConnectBackoffs(clock, () => 0)
  let logins = 0
  const login = async () => {
    logins++
    throw wrong()
  }
  const sessions = Array.from({ length: 6 }, () => backoffs.acquire('rcon', 'rcon.test:1', 'wrong', true))
  const codes = await Promise.all(sessions.map((session) => session.attempt(login, never()).catch(({ code }) => code)))
  expect(codes).toEqual(Array(6).fill('auth'))
  expect(logins).toBe(1)
  const other = backoffs.acquire('rcon', 'rcon.test:1', 'right')
  await expect(other.attempt(async () => 'connected', never())).resolves.toBe('connected')
  await clock.advance(300_000)
  await sessions[0]!.attempt(login, never()).catch(() => {})
  expect(logins).toBe(2)
})

it('makes concurrent attempts once the password was accepted', async () => {
  const clock = manualClock(0)
  const backoff = createConnectBackoffs(clock, () => 0).acquire('rcon', 'rcon.test:1', 'right')
  await backoff.attempt(async () => {}, never())
  let attempts = 0
  const slow = () =>
    new Promise<void>((resolve) => {
      attempts++
      clock.after(1_000, resolve)
    })
  const both = Promise.all([backoff.attempt(slow, never()), backoff.attempt(slow, never())])
  expect(attempts).toBe(2)
  await clock.advance(1_000)
  await both
})

it('does not back off after the timeout of a probe, and drops unused state', async () => {
  const clock = manualClock(0)
  const backoffs = createConnectBackoffs(clock, () => 0)
  const watched = backoffs.acquire('rcon', 'rcon.test:1', 'secret')
  const probe = backoffs.acquire('rcon', 'rcon.test:1', 'secret', true)
  const late = () => Promise.reject(new SourceError('timeout', 'rcon.test:1: late'))
  await expect(probe.attempt(late, never())).rejects.toMatchObject({ code: 'timeout' })
  await expect(watched.attempt(async () => 'connected', never())).resolves.toBe('connected')
  watched.failed(wrong())
  probe.release()
  watched.release()
  const later = backoffs.acquire('rcon', 'rcon.test:1', 'secret')
  await expect(later.attempt(async () => 'connected', never())).resolves.toBe('connected')
})

it('ends the pause when the server is reachable again, unless the secret was rejected', async () => {
  const clock = manualClock(0)
  const backoffs = createConnectBackoffs(clock, () => 0)
  const attempts = async (error: SourceError, count: number) => {
    const backoff = backoffs.acquire('rcon', `rcon.test:${count}`, 'secret')
    let made = 0
    const attempt = () =>
      backoff
        .attempt(async () => {
          made++
          throw error
        }, never())
        .catch(() => {})
    for (let round = 0; round < count; round++) {
      await attempt()
      backoff.endPause()
    }
    return { made, again: backoff.failed(new SourceError('closed', 'rcon.test: closed')) - clock.now() }
  }
  expect(await attempts(refused(), 5)).toEqual({ made: 5, again: 1_000 })
  expect((await attempts(wrong(), 4)).made).toBe(1)
})

it('does not count an attempt that was cancelled, nor the same error twice', async () => {
  const clock = manualClock(0)
  const backoff = createConnectBackoffs(clock, () => 0).acquire('rcon', 'rcon.test:1', 'secret')
  expect(backoff.failed(new SourceError('aborted', 'rcon.test:1: aborted'))).toBe(0)
  await expect(backoff.attempt(async () => 'connected', never())).resolves.toBe('connected')
  const error = refused()
  expect([backoff.failed(error), backoff.failed(error), backoff.failed(refused())]).toEqual([1_000, 1_000, 2_000])
  expect(backoff.failed(wrong())).toBe(300_000)
})

it('makes one attempt at a time again once the password is rejected', async () => {
  const clock = manualClock(0)
  const backoff = createConnectBackoffs(clock, () => 0).acquire('rcon', 'rcon.test:1', 'secret')
  const during = async () => {
    let [running, most] = [0, 0]
    const connect = async () => {
      most = Math.max(most, ++running)
      await Promise.resolve()
      running--
    }
    await Promise.all([backoff.attempt(connect, never()), backoff.attempt(connect, never())])
    return most
  }
  expect([await during(), await during()]).toEqual([1, 2])
  backoff.failed(refused())
  await clock.advance(1_000)
  expect(await during(), 'refused').toBe(2)
  backoff.failed(wrong())
  await clock.advance(300_000)
  expect(await during(), 'rejected').toBe(1)
})

it('keeps the state while a session is left, however often another one is released', async () => {
  const backoffs = createConnectBackoffs(manualClock(0), () => 0)
  const [first, second] = [0, 1].map(() => backoffs.acquire('rcon', 'rcon.test:1', 'secret'))
  first!.failed(refused())
  expect(first!.isReleased).toBe(false)
  first!.release()
  first!.release()
  expect([first!.isReleased, second!.isReleased]).toEqual([true, false])
  const later = () => backoffs.acquire('rcon', 'rcon.test:1', 'secret').attempt(async () => 'connected', never())
  await expect(later()).rejects.toMatchObject({ code: 'refused' })
  await expect(second!.attempt(async () => 'connected', never())).rejects.toMatchObject({ code: 'refused' })
})

it.each([
  [false, 'timeout'],
  [true, 'connected'],
])('of a server, with probe %s, ends in %s after a timeout, and ends the pauses of its sessions', async (isProbe, expected) => {
  const backoffs = createConnectBackoffs(manualClock(0), () => 0)
  const sessions = ['rcon', 'management', 'gone'].map((target) =>
    isProbe ? backoffs.acquire('rcon', target, 'secret', true) : backoffs.acquire('rcon', target, 'secret'),
  )
  const [rcon, management, gone] = sessions
  const connect = (backoff = rcon) => backoff!.attempt(async () => 'connected', never()).catch((error: SourceError) => error.code)
  rcon!.failed(new SourceError('timeout', 'rcon: late'))
  expect(await connect()).toBe(expected)
  management!.failed(wrong())
  gone!.failed(refused())
  gone!.release()
  for (const session of sessions) session.endPause()
  expect([await connect(), await connect(management), await connect(gone)]).toEqual(['connected', 'auth', 'refused'])
})
