import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildApp } from '../../../src/app.ts'
import { runUpdate } from '../../../src/commands/update.ts'
import { type Config, loadConfig } from '../../../src/config/config.ts'
import { storeGrant } from '../../../src/data/scripts/liked-songs/authorisation.ts'
import { createFleet } from '../../../src/game/fleet.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { ageLocks } from '../../helpers/age-locks.ts'
import { archiveOf, type FakeReddit, startFakeReddit, tableOf } from '../../helpers/fake-reddit.ts'
import { until } from '../../helpers/until.ts'
import { fakeMusic, json, secrets, song } from '../scripts/liked-songs/fake-music.ts'

const updateChild = fileURLToPath(new URL('../../helpers/update-child.mjs', import.meta.url))

let reddit: FakeReddit
let folder: string
let lines: string[]
const closing: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  reddit = await startFakeReddit()
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  lines = []
  reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/february', '2024/january']))
  reddit.pages.set('upcoming-releases/2024/january', tableOf('|1st|18:00|*A*|*a*|Single||'))
  reddit.pages.set('upcoming-releases/2024/february', tableOf('|2nd|18:00|*B*|*b*|Single||', '|30th|18:00|*C*|*c*|Single||'))
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  reddit.close()
  rmSync(folder, { recursive: true })
})

const environment = (more: Record<string, string | undefined> = {}) => ({
  DATA_DIR: folder,
  REDDIT_AUTH_URL: reddit.url,
  REDDIT_API_URL: reddit.url,
  REDDIT_CLIENT_ID: reddit.id,
  REDDIT_CLIENT_SECRET: reddit.secret,
  UPDATE_SCHEDULE: 'off',
  ...more,
})

async function start(env: Record<string, string | undefined> = {}) {
  const config: Config = loadConfig({ env: environment(env) })
  const createSources = () => {
    throw new Error('there are no servers')
  }
  const fleet = createFleet({ servers: [], poll: config.poll, clock: systemClock, log: silentLog, createSources })
  const logger = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) })
  const app = await buildApp({ config, fleet, logger })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= app.close()
    return closed
  }
  closing.push(close)
  const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers })
  const read = async (path: string) => (await get(path)).json()
  const script = async (name: string) =>
    ((await read('/v1/run')) as { scripts: Record<string, unknown>[] }).scripts.find((one) => one.script === name)
  const port = Number(new URL(url).port)
  /** A request with headers that fetch() does not let a caller set. */
  const raw = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
        resolve(response.resume().statusCode)
      })
        .once('error', reject)
        .end()
    })
  return { get, raw, port, read, script, close }
}

const updateByHand = (env: Record<string, string | undefined> = {}) => {
  const output: string[] = []
  const stream = { write: (text: string) => output.push(text) > 0 }
  const run = runUpdate(
    { script: 'kcomebacks', full: false, force: false, dryRun: false },
    loadConfig({ env: environment(env) }),
    {
      ...{ stdout: stream, stderr: stream, signal: new AbortController().signal },
    },
  )
  return { output, run }
}

/** Delays the reply of a page, so that a run stays in progress. */
function hold(page: string): { readonly requested: () => boolean; release(): void } {
  let held: ServerResponse | undefined
  reddit.instead.set(page, [
    (_request, response) => {
      held = response
    },
  ])
  return { requested: () => held !== undefined, release: () => held?.destroy() }
}

const archive = 'upcoming-releases/archive'

describe('the script-run routes', () => {
  it('start a run without waiting for its end, show it, and serve its results without a restart', async () => {
    const { get, read, script } = await start()
    const held = hold(archive)
    expect((await get('/v1/kcomebacks/last_update')).status).toBe(503)
    expect(await script('kcomebacks')).toEqual({ script: 'kcomebacks', path: '/v1/run/kcomebacks', state: 'idle', missing: [] })

    const reply = await get('/v1/run/kcomebacks')
    expect(reply.status).toBe(200)
    expect(await reply.text()).toBe('{"status":"udating..."}')
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(reply.headers.get('access-control-allow-origin')).toBeNull()
    const running = await script('kcomebacks')
    expect(running).toEqual({
      ...{ script: 'kcomebacks', path: '/v1/run/kcomebacks', state: 'running', missing: [] },
      last_start: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    const before = await (await get('/metrics')).text()
    expect(before).toContain('tickwarden_script_running{script="kcomebacks"} 1')
    // Each outcome is exposed before its first run, so that Prometheus detects the increase.
    for (const outcome of ['done', 'partly', 'failed', 'not_configured', 'reauthorise', 'rate_limited'])
      expect(before).toContain(`tickwarden_script_runs_total{script="kcomebacks",outcome="${outcome}"} 0\n`)
    expect(before).not.toContain('tickwarden_script_last_success_timestamp_seconds')

    await until(held.requested)
    held.release()
    await until(async () => (await script('kcomebacks'))?.state === 'succeeded')
    expect(await script('kcomebacks')).toMatchObject({
      last_start: running?.last_start,
      trigger: 'request',
      outcome: 'done',
      counts: { read: 5, added: 2, changed: 0, unchanged: 0, rejected: 3 },
      error: 'upcoming-releases/2024/february, line 6: "30th" is not a day of the month',
    })
    expect(lines.join('')).toContain('kcomebacks: upcoming-releases/2024/february: 1 row of soundtracks left out')
    expect(await read('/v1/kcomebacks/filter/getall?limit=50&offset=0')).toEqual({
      results: [
        { date: '2024-01-1', time: '18:00', artist: 'A', title: 'a', types: ['single'], links: [] },
        { date: '2024-02-2', time: '18:00', artist: 'B', title: 'b', types: ['single'], links: [] },
      ],
      count: 2,
    })
    const metrics = await (await get('/metrics')).text()
    expect(metrics).toContain('tickwarden_script_runs_total{script="kcomebacks",outcome="done"} 1')
    expect(metrics).toContain('tickwarden_script_runs_total{script="kcomebacks",outcome="failed"} 0')
    expect(metrics).toContain('tickwarden_script_running{script="kcomebacks"} 0')
    const success = Date.parse(String((await script('kcomebacks'))?.last_success)) / 1000
    expect(metrics).toContain(`tickwarden_script_last_success_timestamp_seconds{script="kcomebacks"} ${success}\n`)
    expect(Math.abs(success - Date.now() / 1000)).toBeLessThan(600)
  })

  it('start one run for many simultaneous requests', async () => {
    const { get } = await start()
    const held = hold(archive)
    const replies = await Promise.all(Array.from({ length: 20 }, () => get('/v1/run/kcomebacks')))
    const states = await Promise.all(replies.map((reply) => reply.text()))
    expect(states.filter((state) => state === '{"status":"udating..."}')).toHaveLength(1)
    expect(states.filter((state) => state === '{"status":"already running"}')).toHaveLength(19)
    await until(held.requested)
    expect(reddit.requested.filter((page) => page === archive)).toHaveLength(1)
  })

  it('run two scripts at the same time', async () => {
    writeFileSync(join(folder, 'projects.config.json'), '[{"title":"By hand"}]')
    const { get, script } = await start()
    const names = ['kcomebacks', 'projects']
    const replies = await Promise.all(names.map((name) => get(`/v1/run/${name}`)))
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    for (const name of names) await until(async () => (await script(name))?.state === 'succeeded')
    const { runs } = JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8')) as { runs: { script: string }[] }
    expect(runs.map((run) => run.script).sort()).toEqual(names)
  })

  it('start nothing while the command line runs the script, and vice versa', async () => {
    const { get, script } = await start({ RUN_PAUSE: '0s' })
    const held = hold(archive)
    const first = updateByHand()
    await until(held.requested)
    expect(await (await get('/v1/run/kcomebacks')).json()).toEqual({ status: 'already running' })
    const running = await script('kcomebacks')
    expect(running).toMatchObject({ state: 'running', last_start: expect.stringMatching(/Z$/) })
    const shown = 'tickwarden_script_running{script="kcomebacks"} 1'
    await until(async () => (await (await get('/metrics')).text()).includes(shown))
    held.release()
    expect(await first.run).toBe(0)
    expect(await script('kcomebacks')).toMatchObject({
      state: 'succeeded',
      trigger: 'command',
      last_start: running?.last_start,
    })

    const again = hold(archive)
    expect(await (await get('/v1/run/kcomebacks')).json()).toEqual({ status: 'udating...' })
    await until(again.requested)
    const next = await script('kcomebacks')
    expect(next).toMatchObject({ state: 'running', outcome: 'done', trigger: 'command' })
    expect(String(next?.last_start) > String(next?.last_end)).toBe(true)
    const second = updateByHand()
    expect(await second.run).toBe(1)
    expect(second.output.join('')).toBe('kcomebacks: already running\n')
    again.release()
  })

  it('take over the lock of a killed process after a minute', async () => {
    const { get } = await start()
    mkdirSync(join(folder, '.kcomebacks.lock'))
    expect(await (await get('/v1/run/kcomebacks')).json()).toEqual({ status: 'already running' })
    ageLocks(folder, 61_000)
    expect(await (await get('/v1/run/kcomebacks')).json()).toEqual({ status: 'udating...' })
  })

  it('refuse a run shortly after the last one', async () => {
    const { get } = await start({ RUN_PAUSE: '1h' })
    expect(await updateByHand().run).toBe(0)
    const reply = await get('/v1/run/kcomebacks')
    expect(reply.status).toBe(429)
    const wait = Number(reply.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(3500)
    expect(wait).toBeLessThanOrEqual(3600)
    expect((await reply.json()).status).toMatch(new RegExp(`^ran \\d+ s ago, try again in ${wait} s$`))
  })

  it('show a run whose process was killed as failed, and refuse another one shortly after its start', async () => {
    expect(await updateByHand().run).toBe(0)
    const held = hold(archive)
    const child = spawn(process.execPath, [updateChild], {
      env: environment(),
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    const exited = once(child, 'exit')
    child.stdin.write('go\n')
    await until(held.requested)
    const { get, script } = await start({ RUN_PAUSE: '1h' })
    const running = await script('kcomebacks')
    expect(running).toMatchObject({ state: 'running', outcome: 'done' })
    child.kill('SIGKILL')
    await exited
    held.release()
    ageLocks(folder, 61_000)

    const restarted = await start({ RUN_PAUSE: '1h' })
    const error = expect.stringMatching(/^interrupted: the process ended during the run/)
    const killed = await restarted.script('kcomebacks')
    expect(killed).toEqual({
      ...{ script: 'kcomebacks', path: '/v1/run/kcomebacks', state: 'failed', missing: [], trigger: 'command' },
      ...{ last_success: running?.last_success, last_start: running?.last_start, outcome: 'failed', error, errors: [error] },
    })
    expect(await script('kcomebacks')).toEqual(killed)
    const reply = await get('/v1/run/kcomebacks')
    expect(reply.status).toBe(429)
    const sinceStart = (Date.now() - Date.parse(String(running?.last_start))) / 1000
    expect(Math.abs(Number(reply.headers.get('retry-after')) - (3600 - sinceStart))).toBeLessThan(30)

    expect(await updateByHand().run).toBe(0)
    expect(await script('kcomebacks')).toMatchObject({ state: 'succeeded', outcome: 'done', last_end: expect.any(String) })
  })

  it('name the missing settings', async () => {
    const configured = await start()
    const reply = await configured.get('/v1/run/synclikedsongs')
    expect(reply.status).toBe(503)
    expect((await reply.json()).status).toMatch(/^not configured: set SPOTIFY_CLIENT_ID, /)
    const noFolder = await start({ DATA_DIR: undefined })
    for (const name of ['kcomebacks', 'projects']) {
      const refused = await noFolder.get(`/v1/run/${name}`)
      expect(refused.status).toBe(503)
      expect(await refused.json()).toEqual({ status: 'not configured: set DATA_DIR' })
    }
  })

  it.each([
    ['is inside a file', () => join(folder, 'file', 'data'), 'created (ENOTDIR)'],
    ['is a file', () => join(folder, 'file'), 'created (EEXIST)'],
  ])('explain why DATA_DIR cannot be used: it %s', async (_what, place, reason) => {
    writeFileSync(join(folder, 'file'), '')
    const rest = `cannot be ${reason}; set it to a folder that this user may write to`
    const message = `DATA_DIR is "${place()}", which ${rest}`
    const { get } = await start({ DATA_DIR: place() })
    const reply = await get('/v1/run/kcomebacks')
    expect(reply.status).toBe(503)
    expect(await reply.json()).toEqual({ status: `not configured: DATA_DIR ${rest}` })
    expect(lines.map((line) => JSON.parse(line).msg)).toContain(`kcomebacks: not started: ${message}`)
    const { output, run } = updateByHand({ DATA_DIR: place() })
    expect(await run).toBe(1)
    expect(output.join('')).toBe(`kcomebacks: failed: ${message}\n`)
  })

  it('list the songs that are set aside, and when the authorisation expires, until another token is set', async () => {
    const song = {
      id: 'a',
      title: 'T',
      artist: 'A',
      reason: 'Last.fm does not know the song (error 7)',
      tried: Date.UTC(2026, 0, 2),
    }
    writeFileSync(
      join(folder, 'likedsongs.jsonl'),
      `${JSON.stringify({ ...song, failures: 3 })}\n${JSON.stringify({ ...song, id: 'b', failures: 2 })}\n`,
    )
    await storeGrant(folder, 'the-refresh-token', Date.UTC(2025, 7, 31, 12))
    const first = await start({ SPOTIFY_REFRESH_TOKEN: 'the-refresh-token' })
    expect(await first.script('likedsongs')).toMatchObject({
      state: 'idle',
      authorisation_expires: '2026-02-28T12:00:00.000Z',
      set_aside: ['set aside, tried again weekly: A - T (Last.fm does not know the song (error 7); last tried 2026-01-02)'],
    })
    const metric = 'tickwarden_script_authorisation_expires_timestamp_seconds'
    expect(await (await first.get('/metrics')).text()).toContain(
      `${metric}{script="likedsongs"} ${Date.UTC(2026, 1, 28, 12) / 1000}\n`,
    )
    await first.close()
    const second = await start({ SPOTIFY_REFRESH_TOKEN: 'another-refresh-token' })
    expect(await second.script('likedsongs')).not.toHaveProperty('authorisation_expires')
    expect(await (await second.get('/metrics')).text()).not.toContain(`${metric}{`)
  })

  it('stop the runs when the service stops', async () => {
    const { get, close } = await start()
    const held = hold(archive)
    await get('/v1/run/kcomebacks')
    await until(held.requested)
    await close()
    const { runs } = JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8'))
    expect(runs).toMatchObject([{ script: 'kcomebacks', outcome: 'failed', errors: ['stopped'] }])
    expect(existsSync(join(folder, '.kcomebacks.lock'))).toBe(false)
  })

  it('show the first errors of a run and the number of the others; the log has all', async () => {
    writeFileSync(join(folder, 'projects.config.json'), JSON.stringify(Array.from({ length: 30 }, (_, index) => index)))
    const { get, script } = await start()
    await get('/v1/run/projects')
    await until(async () => (await script('projects'))?.state === 'failed')
    const mistake = (index: number) => `projects.config.json: [${index}] is ${index}; expected a project`
    const mistakes = Array.from({ length: 30 }, (_, index) => mistake(index))
    expect((await script('projects'))?.errors).toEqual([...mistakes.slice(0, 20), 'and 10 more, see the log'])
    for (const one of mistakes) expect(lines.join('')).toContain(one)
  })

  it('show a failed run, without secrets', async () => {
    const { get, script } = await start({ REDDIT_CLIENT_SECRET: 'wrong-hunter3' })
    await get('/v1/run/kcomebacks')
    await until(async () => (await script('kcomebacks'))?.state === 'failed')
    const shown = await (await get('/v1/run')).text()
    expect(shown).toContain('Reddit rejected REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET (401)')
    for (const text of [shown, lines.join(''), readFileSync(join(folder, 'runs.json'), 'utf8'), process.title]) {
      expect(text).not.toMatch(/hunter/)
    }
  })
})

it('no reply and no log shows the secrets of a signed request that an upstream quotes', async () => {
  const music = await fakeMusic([song(1)])
  closing.push(() => music.close())
  const signatures: (string | null)[] = []
  music.intercept = (path, response, form) => {
    if (!path.startsWith('/lastfm')) return false
    signatures.push(form.get('api_sig'))
    json(response, 403, { error: 13, message: `Invalid signature ${form.get('api_sig')} of ${form}` })
    return true
  }
  const { get, script } = await start(music.env)
  await get('/v1/run/synclikedsongs')
  await until(async () => (await script('likedsongs'))?.state === 'failed')
  const shown = await (await get('/v1/run')).text()
  expect(shown).toContain('the signature is not valid')
  expect(lines.join('')).toContain('Last.fm replied: Invalid signature [hidden] of artist=')
  expect(signatures).toHaveLength(1)
  for (const text of [shown, lines.join(''), readFileSync(join(folder, 'runs.json'), 'utf8')]) {
    for (const secret of [...signatures, ...Object.values(secrets)]) expect(text).not.toContain(secret)
  }
})

describe('the protection of the script-run routes', () => {
  const starting = ['/v1/run/kcomebacks', '/v1/run/projects', '/v1/run/synclikedsongs']
  const paths = ['/v1/run', ...starting]

  it.each(['0.0.0.0', '192.0.2.1', '::', 'mc.example.org'])('refuses every request on %s without a token', async (HOST) => {
    const { get } = await start({ HOST })
    for (const path of paths) {
      const reply = await get(path)
      expect(reply.status).toBe(403)
      expect(await reply.json()).toMatchObject({ code: 'PROTECTED_MODE', detail: expect.stringContaining('RUN_TOKEN') })
    }
    expect(reddit.requested).toEqual([])
  })

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost', '::ffff:127.0.0.1'])(
    'accepts plain local requests on %s without a token',
    async (HOST) => {
      const { get, raw, port } = await start({ HOST })
      expect((await get('/v1/run')).status).toBe(200)
      for (const host of ['localhost', `LOCALHOST:${port}`, '127.0.0.1', '127.9.9.9:80', '[::1]', `[::1]:${port}`])
        expect([host, await raw('GET', '/v1/run', { host })]).toEqual([host, 200])
      const host = `127.0.0.1:${port}`
      expect(await raw('GET', '/v1/run', { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).toBe(200)
      expect(await raw('GET', '/v1/run', { host, 'sec-fetch-site': 'none' })).toBe(200)
    },
  )

  it.each<[string, Record<string, string>]>([
    ['a name that resolves to this machine', { host: 'evil.example.org' }],
    ['a name that begins like a local one', { host: 'localhost.example.org' }],
    ['an address of another machine', { host: '192.0.2.1:8080' }],
    ['a Host that cannot be read', { host: '127.0.0.1:8080:1' }],
    ['a page of another site', { origin: 'https://evil.example.org' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a sandboxed page', { origin: 'null' }],
    ['a picture on another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a proxy', { 'x-forwarded-for': '192.0.2.1' }],
    ['another proxy', { forwarded: 'for=192.0.2.1' }],
    ...[
      ...['via', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-forwarded-prefix', 'cdn-loop'],
      ...['x-forwarded-server', 'cf-connecting-ip', 'cf-ray', 'true-client-ip', 'x-client-ip', 'fastly-client-ip', 'client-ip'],
    ].map((name): [string, Record<string, string>] => [`the header ${name}`, { [name]: '127.0.0.1' }]),
  ])('refuses %s without a token', async (_what, headers) => {
    const { raw, port } = await start()
    for (const path of paths) expect(await raw('GET', path, { host: `127.0.0.1:${port}`, ...headers })).toBe(403)
    expect(reddit.requested).toEqual([])
  })

  it('refuses a request line with a whole URL without a token', async () => {
    const { raw, port } = await start()
    const host = `127.0.0.1:${port}`
    for (const path of paths) {
      expect(await raw('GET', `http://${host}${path}`, { host })).toBe(403)
      expect(await raw('GET', `http://evil.example.org${path}`, { host })).toBe(403)
    }
    expect(reddit.requested).toEqual([])
  })

  it.each(['127.0.0.1', '0.0.0.0'])('accepts only requests with the token on %s', async (HOST) => {
    const { get, raw, port } = await start({ HOST, RUN_TOKEN: 'hunter-two' })
    for (const authorization of [
      undefined,
      'Bearer',
      'Bearer wrong',
      'Basic hunter-two',
      'hunter-two',
      'Bearer hunter-two hunter-two',
    ]) {
      for (const path of paths) {
        const reply = await get(path, authorization === undefined ? {} : { authorization })
        expect(reply.status).toBe(401)
        expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer /)
        expect(await reply.json()).toMatchObject({ code: 'UNAUTHORIZED' })
      }
    }
    expect(reddit.requested).toEqual([])
    const authorization = 'Bearer hunter-two'
    // Through a proxy, with its host name.
    expect(await raw('GET', '/v1/run', { host: `mc.example.org:${port}`, 'x-forwarded-for': '192.0.2.1', authorization })).toBe(
      200,
    )
    const reply = await get('/v1/run/kcomebacks', { authorization })
    expect(await reply.json()).toEqual({ status: 'udating...' })
  })

  it('starts no run for HEAD', async () => {
    const { raw, port, script } = await start({ RUN_PAUSE: '0s' })
    const host = `127.0.0.1:${port}`
    for (const path of starting) expect(await raw('HEAD', path, { host })).toBe(405)
    expect(await raw('HEAD', '/v1/run', { host })).toBe(200)
    expect((await script('kcomebacks'))?.state).toBe('idle')
    expect(reddit.requested).toEqual([])
  })
})
