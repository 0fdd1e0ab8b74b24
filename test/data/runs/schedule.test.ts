import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { createDataService, registerDataService } from '../../../src/data/index.ts'
import { readHistory } from '../../../src/data/runs/history.ts'
import { kcomebacks } from '../../../src/data/scripts/kcomebacks/index.ts'
import { noCounts, type RunContext, type RunResult, type Script } from '../../../src/data/scripts/script.ts'
import { createHttpApp } from '../../../src/http/app.ts'
import { silentLog } from '../../../src/util/log.ts'
import { ageLocks } from '../../helpers/age-locks.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { until } from '../../helpers/until.ts'

let folder: string
let clock: ManualClock
const closing: (() => Promise<void>)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  // 2023-11-14 22:13:20 UTC
  clock = manualClock(0)
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  rmSync(folder, { recursive: true })
})

const minute = 60_000
const hour = 60 * minute

async function start(env: Record<string, string>, run?: (context: RunContext) => Promise<RunResult>) {
  let ran = 0
  const script: Script = {
    ...kcomebacks,
    missingSettings: () => [],
    run: async (context) => {
      ran++
      return run === undefined ? { outcome: 'done', errors: [] } : run(context)
    },
  }
  const config = loadConfig({ env: { DATA_DIR: folder, ...env } })
  const messages: string[] = []
  const log = { ...silentLog, info: (...line: readonly unknown[]) => void messages.push(String(line.at(-1))) }
  const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*' })
  const service = await createDataService({ config, clock, log, scripts: [script] })
  const { runs, store } = service
  registerDataService(app, service)
  closing.push(async () => {
    await app.close()
    await service.close()
  })
  const status = async () => (await app.inject('/v1/run')).json().scripts[0]
  return { runs, status, store, ran: () => ran, messages }
}

/** Only the requested run may start: a catch-up run would interfere with it. */
async function expectNoCatchUp({ runs, store, status, ran, messages }: Awaited<ReturnType<typeof start>>) {
  await store.lastUpdate('kcomebacks')
  expect(await runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
  await until(async () => (await status()).trigger === 'request')
  expect(ran()).toBe(1)
  expect(messages.filter((line) => line.includes('catch-up'))).toEqual([])
}

/** A snapshot URL that answers once the test has set a reply. */
async function startPlace() {
  const held: ServerResponse[] = []
  const server = createServer((_request, response) => void held.push(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/kcomebacks.json`,
    async answer(status: number, body = '') {
      await until(() => held.length > 0)
      for (const response of held.splice(0)) response.writeHead(status).end(body)
    },
  }
}

const credentials = { REDDIT_CLIENT_ID: 'id', REDDIT_CLIENT_SECRET: 'a secret' }
const snapshotText = (lastUpdate: string) =>
  JSON.stringify([{ last_update: lastUpdate }, { date: '2023-11-1', artist: 'A', title: 'a' }])
const snapshot = (lastUpdate: string) => writeFileSync(join(folder, 'kcomebacks.json'), snapshotText(lastUpdate))
const fresh = () => snapshot('2023-11-14 22:00:00 UTC')

describe('the schedule', () => {
  it('runs a configured script daily between 03:00 and 03:15 UTC', async () => {
    fresh()
    const { status, ran } = await start(credentials)
    const first = (await status()).next_run
    expect(first >= '2023-11-15T03:00:00.000Z' && first < '2023-11-15T03:15:00.000Z').toBe(true)
    await clock.advance(Date.parse(first) - clock.wall() - 1)
    expect(ran()).toBe(0)
    await clock.advance(1)
    await until(async () => (await status()).state === 'succeeded')
    expect(ran()).toBe(1)
    expect((await status()).trigger).toBe('schedule')
    expect((await status()).next_run).toMatch(/^2023-11-16T03:(0|1[0-4])/)
  })

  it('follows a clock that is set forth or back', async () => {
    fresh()
    const { status, ran } = await start({ ...credentials, UPDATE_SCHEDULE: '0 3 * * *' })
    const due = '2023-11-15T03:00:00.000Z'
    expect((await status()).next_run).toBe(due)
    clock.jump(-hour)
    await clock.advance(Date.parse(due) - clock.wall() - 1)
    expect(ran()).toBe(0)
    await clock.advance(1)
    await until(async () => (await status()).state === 'succeeded')
    clock.jump(23 * hour + 59 * minute)
    await clock.advance(2 * minute)
    await until(() => ran() === 2)
    expect((await status()).next_run).toBe('2023-11-17T03:00:00.000Z')
  })

  it.each(['0 3 30 2 *', 'kcomebacks=0 0 31 4,6 *; projects=off'])('refuses UPDATE_SCHEDULE "%s", which never fires', (given) => {
    expect(() => loadConfig({ env: { UPDATE_SCHEDULE: given } })).toThrow(/UPDATE_SCHEDULE/)
  })

  it('follows UPDATE_SCHEDULE to the minute, also for a script that is not configured', async () => {
    fresh()
    const { status, ran } = await start({ UPDATE_SCHEDULE: 'kcomebacks=*/10 * * * *; projects=off' })
    expect((await status()).next_run).toBe('2023-11-14T22:20:00.000Z')
    await clock.advance(7 * minute)
    await until(() => ran() === 1)
    expect((await status()).next_run).toBe('2023-11-14T22:30:00.000Z')
  })

  it.each([
    ['is not set up', {}],
    ['is off', { ...credentials, UPDATE_SCHEDULE: 'off' }],
  ])('does not run a script that %s', async (_what, env) => {
    const { status } = await start(env)
    expect(await status()).not.toHaveProperty('next_run')
  })

  it('waits for a time beyond the maximum delay of a timer', async () => {
    fresh()
    const { status, ran } = await start({ UPDATE_SCHEDULE: 'kcomebacks=0 0 12 12 *' })
    expect((await status()).next_run).toBe('2023-12-12T00:00:00.000Z')
    await clock.advance(27 * 24 * hour)
    expect(ran()).toBe(0)
    await clock.advance(24 * hour)
    await until(() => ran() === 1)
  })

  it.each([
    ['is older than 25 hours', () => snapshot('2023-11-13 03:10:00 UTC')],
    ['is not there', () => undefined],
  ])('starts a missed run if the snapshot %s', async (_what, prepare) => {
    prepare()
    const { status, ran } = await start(credentials)
    await until(async () => (await status()).trigger === 'catch-up')
    expect(ran()).toBe(1)
  })

  it('starts no missed run if the snapshot is newer', async () => {
    snapshot('2023-11-14 03:10:00 UTC')
    await expectNoCatchUp(await start(credentials))
  })

  it('loads the snapshot from a URL before it decides whether a run was missed', async () => {
    const place = await startPlace()
    const env = { ...credentials, KCOMEBACKS_SNAPSHOT: place.url }
    const fresh = await start(env)
    await until(async () => (await fresh.status()).state === 'idle')
    await place.answer(200, snapshotText('2023-11-14 21:00:00 UTC'))
    await fresh.store.lastUpdate('kcomebacks')
    await clock.advance(2 * hour)
    expect(fresh.ran()).toBe(0)

    // Now there is a copy, which is two days old when the service starts again.
    await closing.pop()?.()
    await clock.advance(48 * hour)
    const restarted = await start(env)
    await place.answer(200, snapshotText('2023-11-16 21:00:00 UTC'))
    await restarted.store.lastUpdate('kcomebacks')
    await clock.advance(2 * minute)
    expect(restarted.ran()).toBe(0)
  })

  it('starts a missed run once the snapshot from a URL proves to be old', async () => {
    const place = await startPlace()
    const { ran, store } = await start({ ...credentials, KCOMEBACKS_SNAPSHOT: place.url })
    await place.answer(503)
    await store.lastUpdate('kcomebacks')
    await clock.advance(minute - 1)
    expect(ran()).toBe(0)
    await place.answer(200, snapshotText('2023-11-10 21:00:00 UTC'))
    await until(() => store.status()[1]?.state === 'ready')
    await clock.advance(2 * minute)
    await until(() => ran() === 1)
  })

  it('starts a missed run when the lock of a killed process has expired', async () => {
    mkdirSync(join(folder, '.kcomebacks.lock'))
    const { ran, messages, status } = await start(credentials)
    await until(() => messages.includes('kcomebacks: not started by the catch-up: already running'))
    expect(ran()).toBe(0)
    ageLocks(folder, minute + 1_000)
    await clock.advance(minute)
    await until(async () => (await status()).trigger === 'catch-up')
    expect(ran()).toBe(1)
  })

  it('does not retry a run that has just failed', async () => {
    const first = await start(credentials, async () => ({ outcome: 'failed', errors: ['down'] }))
    await until(async () => (await first.status()).state === 'failed')
    await expectNoCatchUp(await start({ ...credentials, RUN_PAUSE: '0s' }))
  })
})

describe('a run', () => {
  it('ends at its time limit', async () => {
    const { runs, status } = await start(
      {},
      ({ signal, counts }) =>
        new Promise((_resolve, reject) => {
          counts.read = 7
          signal.addEventListener('abort', () => reject(new Error('told to stop')))
        }),
    )
    expect(await runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
    await clock.advance(30 * minute - 1)
    expect((await status()).state).toBe('running')
    await clock.advance(1)
    await until(async () => (await status()).state === 'failed')
    expect(await status()).toMatchObject({
      error: 'stopped at the time limit of 30 minutes',
      duration: 1800,
      counts: { ...noCounts, read: 7 },
    })
  })

  it('leaves no timer behind', async () => {
    const { runs, status } = await start({})
    const before = clock.pending
    await runs.start('kcomebacks', 'request')
    await until(async () => (await status()).state === 'succeeded')
    expect(clock.pending).toBe(before)
  })

  it('that throws has failed, and its secrets are hidden', async () => {
    const { runs, status } = await start(credentials, async ({ counts }) => {
      counts.read++
      throw new Error('the upstream said: a secret')
    })
    await until(async () => (await status()).state === 'failed')
    expect(await status()).toMatchObject({
      outcome: 'failed',
      counts: { ...noCounts, read: 1 },
      error: 'the upstream said: [hidden]',
    })
    expect(await runs.start('kcomebacks', 'request')).toMatchObject({ state: 'too soon', since: 0, wait: 60 })
    await clock.advance(59_000)
    expect(await runs.start('kcomebacks', 'request')).toMatchObject({ state: 'too soon', since: 59, wait: 1 })
    await clock.advance(1000)
    expect(await runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
  })

  it('that was rate limited by the upstream is not started again before the limit ends', async () => {
    const retryAt = clock.wall() + 2 * hour
    const { runs, status } = await start({}, async () => ({
      outcome: 'rate_limited',
      errors: ['limit'],
      retryAt,
    }))
    await runs.start('kcomebacks', 'request')
    await until(async () => (await status()).state === 'failed')
    expect((await status()).retry_at).toBe(new Date(retryAt).toISOString())
    await clock.advance(hour)
    expect(await runs.start('kcomebacks', 'request')).toMatchObject({ state: 'too soon', wait: 3600 })
    await clock.advance(hour)
    expect(await runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
  })

  it('that throws before it returns a promise has failed, and releases its lock', async () => {
    const { runs, status } = await start({ RUN_PAUSE: '0s' }, () => {
      throw new Error('at once')
    })
    expect(await runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
    await until(async () => (await status()).state === 'failed')
    expect((await status()).error).toBe('at once')
    expect(readdirSync(folder).filter((name) => name.endsWith('.lock'))).toEqual([])
    expect(await runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
    await until(async () => (await status()).state === 'failed')
  })

  it.each([1e300, Number.POSITIVE_INFINITY, Number.NaN, -1e300])(
    'that is rate limited until %d waits at most a day',
    async (retryAt) => {
      const { runs, status } = await start({}, async () => ({
        outcome: 'rate_limited',
        errors: ['limit'],
        retryAt,
      }))
      await runs.start('kcomebacks', 'request')
      await until(async () => (await status()).state === 'failed')
      await clock.advance(24 * hour)
      expect(await runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
    },
  )

  it('whose process was killed counts from its start, for the pause and for missed runs', async () => {
    const started = new Date(clock.wall() - 30 * minute).toISOString()
    const run = { script: 'kcomebacks', trigger: 'schedule', started }
    writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs: [run] }))
    snapshot('2023-11-12 00:00:00 UTC')
    const { runs, status, ran, messages } = await start({ ...credentials, RUN_PAUSE: '45m' })
    const reply = await runs.start('kcomebacks', 'request')
    expect(reply).toEqual({ state: 'too soon', since: 30 * 60, wait: 15 * 60 })
    expect(await status()).toMatchObject({ state: 'failed', last_start: started, trigger: 'schedule', outcome: 'failed' })
    await clock.advance(15 * minute)
    expect(ran()).toBe(0)
    expect(messages.filter((line) => line.includes('catch-up'))).toEqual([])
    expect(await runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
  })

  it('of an earlier version with an endless rate limit is clamped when it is read', async () => {
    const ended = new Date(clock.wall() - hour).toISOString()
    const run = { script: 'kcomebacks', trigger: 'request', started: ended, ended, duration: 1, outcome: 'rate_limited' }
    const runs = [{ ...run, counts: noCounts, errors: ['limit'], retryAt: '9999-01-01T00:00:00.000Z' }]
    writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs }))
    const service = await start({})
    expect(await service.runs.start('kcomebacks', 'request')).toMatchObject({ state: 'too soon', wait: 23 * 3600 })
    await clock.advance(23 * hour)
    expect(await service.runs.start('kcomebacks', 'request')).toEqual({ state: 'started' })
  })

  it('of another version with an unknown outcome is ignored, and the others count', async () => {
    const [ended, later] = [hour, minute].map((age) => new Date(clock.wall() - age).toISOString())
    const done = { trigger: 'request', started: ended, ended, duration: 1, outcome: 'done', counts: noCounts, errors: [] }
    const runs = [
      { ...done, script: 'kcomebacks' },
      { ...done, script: 'other', started: later, ended: later, outcome: 'postponed' },
    ]
    writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs }))
    const service = await start({ RUN_PAUSE: '2h' })
    expect(await service.status()).toMatchObject({ outcome: 'done', last_success: ended })
    expect(await service.runs.start('kcomebacks', 'request')).toMatchObject({ state: 'too soon', wait: 3600 })
  })

  it('does not reveal a folder of the machine', async () => {
    const { runs, status, messages } = await start({}, async () => {
      throw new Error(`EACCES: permission denied, open '${folder}/kcomebacks.json.new'`)
    })
    await runs.start('kcomebacks', 'request')
    await until(async () => (await status()).state === 'failed')
    expect((await status()).error).toBe("EACCES: permission denied, open 'kcomebacks.json.new'")
    expect(messages).not.toEqual([])
  })

  it('is one of the last 50', async () => {
    const { runs, ran } = await start({ RUN_PAUSE: '0s' })
    const once = async (number: number) => {
      await until(async () => (await runs.start('kcomebacks', 'request')).state === 'started')
      await until(async () => ran() === number && (await runs.status())[0]?.state === 'succeeded')
      return (await readHistory(folder)).runs
    }
    const first = await once(1)
    writeFileSync(join(folder, 'runs.json'), JSON.stringify({ runs: Array(49).fill(first).flat() }))
    const { length } = await once(2)
    const after = await once(3)
    expect([length, after.length]).toEqual([50, 50])
  })
})
