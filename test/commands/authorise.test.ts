import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runAuthorise } from '../../src/commands/authorise.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { MusicService } from '../../src/data/scripts/names.ts'
import { type FakeMusic, fakeMusic, json, secrets } from '../data/scripts/liked-songs/fake-music.ts'

let music: FakeMusic
let dataDir: string
let printed: string
/** What goes to the standard error. */
let failures: string
let questions: string[]

beforeEach(async () => {
  music = await fakeMusic()
  dataDir = await mkdtemp(join(tmpdir(), 'tickwarden-authorise-'))
  printed = ''
  failures = ''
  questions = []
})
afterEach(() => music.close())

interface Person {
  /** Called when a line is requested; undefined: no input. */
  readonly types?: () => string
  readonly sees?: (line: string) => void
}

function authorise(
  service: MusicService,
  { types, sees }: Person = {},
  env: Record<string, string> = {},
  signal = new AbortController().signal,
) {
  return runAuthorise(service, loadConfig({ env: { ...music.env, DATA_DIR: dataDir, ...env } }), {
    signal,
    log(line) {
      printed += `${line}\n`
      sees?.(line)
    },
    error(line) {
      failures += `${line}\n`
    },
    readLine(question, signal) {
      questions.push(question)
      if (types) return Promise.resolve(types())
      return new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason)
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    },
  })
}
const urlIn = (line: string) => new URL(/https?:\/\/\S+(?:authorize|auth\/)\?\S+/.exec(line)?.[0] ?? 'x:')
async function expectFile(name: string, content: string) {
  const path = join(dataDir, name)
  expect(await readFile(path, 'utf8')).toBe(`${content}\n`)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const isSpotify = name === 'spotify-refresh-token'
  expect(await readdir(dataDir)).toEqual(isSpotify ? [name, `${name}.json`] : [name])
  expect(printed).not.toContain(content)
  expect(printed).toContain(`_FILE=${path}`)
}

describe('authorise spotify', () => {
  const given = 'secret-new-refresh-token'
  beforeEach(() => {
    music.intercept = (path, response, form) => {
      if (path !== '/accounts/api/token' && path !== '/api/token') return false
      const right =
        form.get('grant_type') === 'authorization_code' &&
        form.get('code') === 'the-code' &&
        form.get('redirect_uri')?.startsWith('http://127.0.0.1:')
      json(
        response,
        right ? 200 : 400,
        right ? { refresh_token: given, access_token: 'secret-access' } : { error: 'invalid_grant' },
      )
      return true
    }
  })

  it('receives the code on a loopback port, and writes the token to a file that only its owner can read', async () => {
    const sees = (line: string) => {
      if (!line.includes('/authorize?')) return
      const url = urlIn(line)
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        client_id: secrets.SPOTIFY_CLIENT_ID,
        response_type: 'code',
        scope: 'user-library-read',
      })
      const back = url.searchParams.get('redirect_uri')
      // A redirect with another state is ignored.
      void fetch(`${back}?code=stolen&state=guessed`).then(async (refused) => {
        expect(refused.status).toBe(400)
        await fetch(`${back}?code=the-code&state=${url.searchParams.get('state')}`)
      })
    }
    expect(await authorise('spotify', { sees })).toBe(0)
    expect(printed).toContain('user-library-read')
    await expectFile('spotify-refresh-token', given)
  })

  it('accepts a pasted code and a pasted address', async () => {
    expect(await authorise('spotify', { types: () => 'the-code' })).toBe(0)
    let state = ''
    const sees = (line: string) => {
      if (line.includes('/authorize?')) state = urlIn(line).searchParams.get('state') ?? ''
    }
    expect(await authorise('spotify', { sees, types: () => `http://127.0.0.1/callback?code=the-code&state=${state}` })).toBe(0)
    await expectFile('spotify-refresh-token', given)
  })

  it.each([
    ['http://127.0.0.1/callback?code=the-code&state=other', /another state/],
    ['wrong', /rejected the code: it is expired or was already used; start again/],
  ])('fails on %s without writing', async (pasted, message) => {
    expect(await authorise('spotify', { types: () => pasted })).toBe(1)
    expect(failures).toMatch(message)
    expect(await readdir(dataDir)).toEqual([])
  })

  it('reports missing settings, and ends when it is interrupted', async () => {
    expect(
      await runAuthorise('spotify', loadConfig({ env: {} }), {
        log: (line) => (printed += line),
        error: (line) => (failures += line),
        readLine: async () => '',
        signal: new AbortController().signal,
      }),
    ).toBe(4)
    expect([printed, failures]).toEqual(['', expect.stringContaining('SPOTIFY_CLIENT_ID, SPOTIFY_CLIENT_SECRET')])
    const stop = new AbortController()
    const running = authorise('spotify', { sees: () => stop.abort(new Error('stopped')) }, {}, stop.signal)
    expect(await running).toBe(1)
    expect(await readdir(dataDir)).toEqual([])
  })
})

describe('authorise lastfm', () => {
  it('requests a session key until the user has accepted, and writes it to a file that only its owner can read', async () => {
    const key = 'secret-new-session-key'
    let tries = 0
    music.intercept = (path, response, form) => {
      if (path !== '/lastfm/2.0/') return false
      if (form.get('method') === 'auth.getToken') json(response, 200, { token: 'the-token' })
      else if (form.get('method') === 'auth.getSession' && form.get('token') === 'the-token') {
        if (tries++ === 0) json(response, 403, { error: 14, message: 'This token has not been authorized' })
        else json(response, 200, { session: { name: 'someone', key, subscriber: 0 } })
      } else return false
      return true
    }
    expect(await authorise('lastfm', { types: () => '' })).toBe(0)
    expect(printed).toContain('https://www.last.fm/api/auth/?')
    expect(printed).toContain('not accepted on the Last.fm page yet')
    expect(questions).toEqual(Array(2).fill('Then press Enter here: '))
    expect(printed).not.toContain(secrets.LASTFM_API_SECRET)
    await expectFile('lastfm-session-key', key)
  })

  it('fails with the error of Last.fm', async () => {
    expect(await authorise('lastfm', { types: () => '' }, { LASTFM_API_SECRET: 'wrong' })).toBe(1)
    expect(failures).toContain('auth.getToken: the signature is not valid; compare LASTFM_API_KEY and LASTFM_API_SECRET')
    expect(await readdir(dataDir)).toEqual([])
  })
})

describe('the command', () => {
  const main = join(import.meta.dirname, '..', '..', 'dist', 'src', 'main.js')

  /** Runs it with the complete input. */
  async function command(service: MusicService, typed: string, env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [main, 'authorise', service], {
      env: { PATH: process.env.PATH ?? '', ...music.env, DATA_DIR: dataDir, ...env },
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed += chunk
      })
    }
    child.stdin.end(typed)
    return new Promise<number | null>((resolve) => child.once('close', resolve))
  }
  beforeEach(() => {
    music.intercept = (_path, response, form) => {
      if (form.get('method') === 'auth.getToken') json(response, 200, { token: 'the-token' })
      else if (form.get('grant_type') === 'authorization_code') {
        const right = form.get('code') === 'the-code'
        json(response, right ? 200 : 400, right ? { refresh_token: 'secret-refresh' } : { error: 'invalid_grant' })
      } else return false
      return true
    }
  })

  it.each(['spotify', 'lastfm'] as const)('reports that the input has ended: %s', async (service) => {
    expect(await command(service, '')).toBe(1)
    expect(printed).toContain('The input ended before an answer. Run the command in a terminal.\n')
    expect(await readdir(dataDir)).toEqual([])
  })

  it('prompts again until there is an input', async () => {
    expect(await command('spotify', '\n  \nthe-code\n')).toBe(0)
    await expectFile('spotify-refresh-token', 'secret-refresh')
  })

  it('does not request access that it could not store', async () => {
    expect(await command('spotify', 'the-code\n', { DATA_DIR: join(main, 'data') })).toBe(1)
    expect(printed).toMatch(/^DATA_DIR is ".*", which cannot be created \(ENOTDIR\); set it to a folder/)
    expect(music.requested).toEqual([])
  })
})
