import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { missingSettings, startRun } from '../../../src/data/runs/execute.ts'
import { scripts } from '../../../src/data/scripts/index.ts'
import { storeGrant } from '../../../src/data/scripts/liked-songs/authorisation.ts'
import { journalPath, openJournal } from '../../../src/data/scripts/liked-songs/journal.ts'
import type { ScriptName } from '../../../src/data/scripts/names.ts'
import { noProgress, scriptSettings } from '../../../src/data/scripts/script.ts'
import { updateScripts } from '../../../src/data/scripts/settings.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'

type Env = Readonly<Record<string, string>>

const spotify = ['SPOTIFY_CLIENT_ID', 'SPOTIFY_CLIENT_SECRET', 'SPOTIFY_REFRESH_TOKEN']
const lastfm = ['LASTFM_API_KEY', 'LASTFM_API_SECRET', 'LASTFM_SESSION_KEY']
const withValues = (names: readonly string[]): Env => Object.fromEntries(names.map((name) => [name, `a-${name}`]))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-scripts-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const find = (name: ScriptName) => scripts.find((script) => script.name === name)!
const settingsOf = (env: Env) => scriptSettings(loadConfig({ env }))

describe('the required settings', () => {
  it.each<[ScriptName, Env, readonly string[]]>([
    ['kcomebacks', {}, []],
    ['kcomebacks', withValues(['REDDIT_CLIENT_ID', 'REDDIT_CLIENT_SECRET']), []],
    ['kcomebacks', withValues(['REDDIT_CLIENT_ID']), ['REDDIT_CLIENT_SECRET']],
    ['kcomebacks', withValues(['REDDIT_CLIENT_SECRET']), ['REDDIT_CLIENT_ID']],
    ['projects', {}, []],
    ['likedsongs', {}, [...spotify, ...lastfm]],
    ['likedsongs', withValues(spotify), lastfm],
    ['likedsongs', withValues([...spotify, ...lastfm]), []],
  ])('of %s with %j that are missing are %j', (name, env, missing) => {
    expect(missingSettings(find(name), settingsOf(env), folder)).toEqual(missing)
  })
})

describe('without a schedule of the user', () => {
  const isConfigured = (name: ScriptName, env: Env = {}) => find(name).isConfigured(settingsOf(env), folder)

  it('kcomebacks needs credentials', () => {
    expect(isConfigured('kcomebacks')).toBe(false)
    expect(isConfigured('kcomebacks', withValues(['REDDIT_CLIENT_ID']))).toBe(true)
  })

  it('projects needs a list', () => {
    expect(isConfigured('projects')).toBe(false)
    expect(isConfigured('projects', { PROJECTS_CONFIG: '/nowhere/list.json' })).toBe(true)
    writeFileSync(join(folder, 'projects.config.json'), '[]')
    expect(isConfigured('projects')).toBe(true)
  })

  it('likedsongs needs nothing but its settings', () => {
    expect(isConfigured('likedsongs')).toBe(true)
  })
})

describe('the state of likedsongs', () => {
  const read = (env: Env = {}) => find('likedsongs').readState?.(settingsOf(env), folder)

  it('has the songs that are set aside', async () => {
    expect(await read()).toEqual({ setAside: [], authorisationExpires: undefined })
    const journal = await openJournal(journalPath(folder), 'account')
    const song = { id: 'id', artist: 'An artist', title: 'A song', reason: 'a reason', tried: Date.UTC(2026, 0, 15) }
    await journal.addFailed({ ...song, failures: 3 })
    await journal.addFailed({ ...song, id: 'other', failures: 2 })
    const state = 'set aside, tried again weekly: An artist - A song (a reason; last tried 2026-01-15)'
    expect(await read()).toMatchObject({ setAside: [state] })
  })

  it('has the end of the authorisation of the current token', async () => {
    await storeGrant(folder, 'token', Date.UTC(2026, 0, 15))
    expect(await read({ SPOTIFY_REFRESH_TOKEN: 'token' })).toMatchObject({ authorisationExpires: Date.UTC(2026, 6, 15) })
    expect(await read({ SPOTIFY_REFRESH_TOKEN: 'other' })).toMatchObject({ authorisationExpires: undefined })
    expect(await read()).toMatchObject({ authorisationExpires: undefined })
  })
})

it.each<[ScriptName, string]>([
  ['kcomebacks', 'Reddit: POST /api/v1/access_token answered 404'],
  ['projects', 'a/b: GitHub: GET /repos/a/b answered 404'],
  ['likedsongs', 'Spotify: POST /api/token answered 404'],
])('a run of %s calls its upstream', async (name, message) => {
  const server = createServer((_request, response) => response.writeHead(404).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const names = Object.values(updateScripts).map(({ env }) => env)
  const urls = Object.fromEntries(names.filter((env) => env.endsWith('_URL')).map((env) => [env, url]))
  writeFileSync(join(folder, 'projects.config.json'), JSON.stringify([{ title: 'A', gh_api: 'a/b' }]))
  const values = settingsOf({ ...urls, ...withValues(['REDDIT_CLIENT_ID', 'REDDIT_CLIENT_SECRET', ...spotify, ...lastfm]) })
  const run = await startRun({
    ...{ script: find(name), values, dataDir: folder, clock: systemClock, log: silentLog, progress: noProgress },
    ...{ trigger: 'command', signal: new AbortController().signal, full: false, dryRun: false, force: false },
  })
  if (typeof run === 'string') expect.fail(run)
  expect(await run.ended).toMatchObject({ outcome: 'failed', errors: [expect.stringContaining(message)] })
})
