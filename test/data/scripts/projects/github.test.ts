import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/config/config.ts'
import { createGithub, repositoryPath } from '../../../../src/data/scripts/projects/github.ts'
import type { ReplyCache } from '../../../../src/data/scripts/projects/reply-cache.ts'
import { noProgress, scriptSettings } from '../../../../src/data/scripts/script.ts'
import { UpstreamError } from '../../../../src/data/scripts/upstream-error.ts'
import { type Clock, systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { addRepository, type FakeGithub, fakeGithub } from './fake-github.ts'

const wall = Date.UTC(2026, 0, 15, 3)
const path = '/repos/a/b'
const commitsPath = `${path}/commits?sha=main&per_page=1`
const date = '2024-05-01T10:00:00Z'

let github: FakeGithub
let cached: Map<string, { etag: string; body: unknown }>
let waits: [string, number][]
let stop: AbortController
beforeEach(async () => {
  github = await fakeGithub()
  addRepository(github, 'a/b', { languages: { Java: 1 }, tag: 'v1.2', date })
  cached = new Map()
  waits = []
  stop = new AbortController()
})
afterEach(() => github.close())

interface Options {
  readonly env?: Record<string, string>
  readonly clock?: Partial<Clock>
  readonly cache?: Pick<ReplyCache, 'get' | 'set'>
}

function open({ env, clock, cache = cached }: Options = {}) {
  const config = loadConfig({ env: { GITHUB_API_URL: github.url, ...env } })
  const context = {
    ...{ values: scriptSettings(config), dataDir: '', signal: stop.signal, log: silentLog, full: false, dryRun: false },
    progress: { ...noProgress, wait: (name: string, milliseconds: number) => void waits.push([name, milliseconds]) },
    ...{ counts: { read: 0, added: 0, changed: 0, unchanged: 0, rejected: 0 }, force: false },
    clock: { ...systemClock, wall: () => wall, ...clock },
  }
  return createGithub(context, cache, { retryPauseMs: 1 })
}
const read = (options?: Options) => open(options).repository('a/b')

const json = { 'content-type': 'application/json' }
type Answer = (request: IncomingMessage, response: ServerResponse) => void
const answer =
  (status: number, body: unknown = '', headers: Record<string, string> = json): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
const replace = (at: string, ...given: Parameters<typeof answer>) => github.replies.set(at, answer(...given))

const errorOf = (options?: Options): Promise<UpstreamError> =>
  read(options).then(
    () => expect.fail('it is read'),
    (error: UpstreamError) => {
      expect(error).toBeInstanceOf(UpstreamError)
      return error
    },
  )

/** The headers of the requests from now on, by path. */
function recordHeaders(): Map<string, IncomingHttpHeaders> {
  const headers = new Map<string, IncomingHttpHeaders>()
  for (const [at, reply] of github.replies) {
    github.replies.set(at, (request: IncomingMessage, response: ServerResponse) => {
      headers.set(at, request.headers)
      answer(200, reply)(request, response)
    })
  }
  return headers
}

describe('a repository', () => {
  it('is read with four requests', async () => {
    expect(await read()).toEqual({ languages: { Java: 1 }, notes: [], release: '1.2', lastUpdate: Date.parse(date) / 1000 })
    expect(github.log).toEqual([path, `${path}/languages`, `${path}/releases/latest`, commitsPath].map((at) => `GET ${at} 200`))
  })

  it('is requested in the format of the API, without a token', async () => {
    const headers = recordHeaders()
    await read()
    for (const given of headers.values()) {
      expect(given).toMatchObject({ accept: 'application/vnd.github+json' })
      expect(given).not.toHaveProperty('authorization')
      expect(given).not.toHaveProperty('if-none-match')
    }
    expect(headers.size).toBe(4)
  })

  it('is requested with the token', async () => {
    await read({ env: { GITHUB_TOKEN: 'ghp_averysecrettoken' } })
    expect(github.tokens).toEqual(Array(4).fill('Bearer ghp_averysecrettoken'))
  })

  it('has a name that may need encoding', async () => {
    expect(repositoryPath('a b/c?d')).toBe('/repos/a%20b/c%3Fd')
  })

  it.each([
    ['no release', 404],
    ['no release and no commit', 409],
  ])('may have %s', async (_what, status) => {
    replace(`${path}/releases/latest`, 404, {})
    if (status === 409) replace(commitsPath, 409, { message: 'Git Repository is empty.' })
    else github.replies.delete(commitsPath)
    expect(await read()).toEqual({ languages: { Java: 1 }, notes: [], lastUpdate: Date.UTC(2020, 0) / 1000 })
  })

  it.each([
    ['v1.2', '1.2'],
    ['1.2', '1.2'],
    ['vv1', 'v1'],
    ['vNext', 'vNext'],
    ['1v2', '1v2'],
    ['v', 'v'],
    ['', undefined],
    [7, undefined],
  ])('has the tag %j, which is the release %j', async (tag, release) => {
    github.replies.set(`${path}/releases/latest`, { tag_name: tag })
    const repository = await read()
    expect(repository.release).toBe(release)
    expect('release' in repository).toBe(release !== undefined)
  })

  it.each([[[]], [null], [['v1']]])('has no release if the reply is %j', async (reply) => {
    github.replies.set(`${path}/releases/latest`, reply)
    expect(await read()).not.toHaveProperty('release')
  })

  it.each([
    ['in whole seconds', [{ commit: { author: { date: '2024-05-01T10:00:00.999Z' } } }], Date.parse(date) / 1000],
    ['of the first commit', [{ commit: { author: { date } } }, { commit: {} }], Date.parse(date) / 1000],
    ['of the last push without a commit', [], Date.UTC(2020, 0) / 1000],
    ['of the last push without a list', { 0: { commit: { author: { date } } } }, Date.UTC(2020, 0) / 1000],
    ['of the last push without details', [{}], Date.UTC(2020, 0) / 1000],
    ['of the last push without an author', [{ commit: {} }], Date.UTC(2020, 0) / 1000],
    ['of the last push without a date', [{ commit: { author: {} } }], Date.UTC(2020, 0) / 1000],
    ['of the last push with a null author', [{ commit: { author: null } }], Date.UTC(2020, 0) / 1000],
    ['that is unknown, as it is no time', [{ commit: { author: { date: 'today' } } }], undefined],
    ['that is unknown, as it is a number', [{ commit: { author: { date: 5 } } }], undefined],
  ])('has a date %s', async (_what, commits, lastUpdate) => {
    github.replies.set(commitsPath, commits)
    const repository = await read()
    expect(repository.lastUpdate).toBe(lastUpdate)
    expect('lastUpdate' in repository).toBe(lastUpdate !== undefined)
  })

  it('notes each language whose size is not valid, its name cut after 60 characters', async () => {
    const long = 'x'.repeat(70)
    const sizes = { Java: 0, Less: -1, Half: 0.5, Text: '7', Vast: 2 ** 53, Most: 2 ** 53 - 1, [long]: null }
    github.replies.set(`${path}/languages`, sizes)
    const note = (name: string) => `the size of the language "${name}" is not a number of bytes; it is left out`
    expect(await read()).toMatchObject({
      languages: { Java: 0, Most: 2 ** 53 - 1 },
      notes: ['Less', 'Half', 'Text', 'Vast', 'x'.repeat(60)].map(note),
    })
  })

  it.each([
    ['[]', 'a repository', path],
    ['null', 'a repository', path],
    ['{}', 'a repository', path],
    ['{"default_branch":1}', 'a repository', path],
    ['[]', 'a list of languages', `${path}/languages`],
    ['null', 'a list of languages', `${path}/languages`],
  ])('is not read from %s, which is not %s', async (body, what, at) => {
    replace(at, 200, body)
    const error = await errorOf()
    expect([error.kind, error.message]).toEqual(['malformed', `GitHub: a/b: the reply is not ${what}`])
  })
})

describe('a cached reply', () => {
  it('is used, and kept for the next run, if it did not change', async () => {
    const first = await read()
    expect([...cached.keys()]).toEqual([path, `${path}/languages`, `${path}/releases/latest`, commitsPath])
    const before = new Map(cached)
    expect(await read()).toEqual(first)
    expect(cached).toEqual(before)
    expect(github.log.slice(4).every((line) => line.endsWith(' 304'))).toBe(true)
  })

  it('is replaced if it changed', async () => {
    await read()
    github.replies.set(`${path}/languages`, { Java: 2 })
    expect(await read()).toMatchObject({ languages: { Java: 2 } })
    expect(cached.get(`${path}/languages`)?.body).toEqual({ Java: 2 })
    expect(cached.get(`${path}/languages`)?.etag).toMatch(/^W\/"/)
  })

  it('is not kept without an ETag', async () => {
    recordHeaders()
    await read()
    expect(cached.size).toBe(0)
  })

  it('is missing although the upstream says that nothing changed', async () => {
    replace(path, 304, '', {})
    expect((await errorOf()).message).toBe(`GitHub: GET ${path} returned a reply that is not valid JSON`)
  })

  it('that cannot be kept ends the run with its error', async () => {
    const full = new Error('the disk is full')
    const set = () => {
      throw full
    }
    await expect(read({ cache: { get: () => undefined, set } })).rejects.toBe(full)
  })
})

describe('an error', () => {
  it.each<[status: number, body: unknown, text: string]>([
    [400, {}, ' answered 400'],
    [401, {}, ' answered 401: check GITHUB_TOKEN'],
    [403, {}, ' answered 403: check GITHUB_TOKEN'],
    [403, { message: 'Repository access blocked' }, ' answered 403: GitHub has blocked access to this repository'],
    [403, { message: ['access blocked'] }, ' answered 403: check GITHUB_TOKEN'],
    [401, { message: 'Repository access blocked' }, ' answered 401: check GITHUB_TOKEN'],
    [404, {}, ' answered 404: no such repository, or it is private'],
    [404, { message: 'access blocked' }, ' answered 404: no such repository, or it is private'],
    [409, {}, ' answered 409'],
    [451, {}, ' answered 451: no such repository, or it is private'],
    [500, {}, ' could not be read (no complete reply, or a server error)'],
    [200, '"text"', ' returned a reply that is not valid JSON'],
    [200, '<html>', ' returned a reply that is not valid JSON'],
    [200, '', ' returned a reply that is not valid JSON'],
    [200, `"${'x'.repeat(4 * 1024 * 1024)}"`, ' returned more than 4194304 bytes'],
  ])('of a reply %i %.60j says what to do', async (status, body, text) => {
    replace(path, status, body)
    expect((await errorOf()).message).toBe(`GitHub: GET ${path}${text}`)
  })

  it.each([
    ['releases/latest', 409, ''],
    ['releases/latest', 403, ': check GITHUB_TOKEN'],
    ['languages', 404, ': no such repository, or it is private'],
    ['languages', 409, ''],
  ])('of %s is one too if it answers %i', async (name, status, text) => {
    replace(`${path}/${name}`, status, {})
    const error = await errorOf()
    expect(error.message).toBe(`GitHub: GET ${path}/${name} answered ${status}${text}`)
  })

  it('has the details and the cause of the first one', async () => {
    replace(path, 401, { message: 'Bad credentials' })
    const error = await errorOf()
    expect(error).toMatchObject({ kind: 'status', status: 401, body: { message: 'Bad credentials' } })
    expect((error.cause as Error).message).toBe(`GitHub: GET ${path} answered 401`)
  })

  it('of a server ends one retry', async () => {
    replace(path, 502, '<html>')
    expect(await errorOf()).toMatchObject({ kind: 'status', status: 502 })
    expect(github.log).toEqual(Array(2).fill(`GET ${path} 502`))
    const about = { default_branch: 'main', pushed_at: date }
    github.replies.set(path, (request: IncomingMessage, response: ServerResponse) => {
      github.replies.set(path, about)
      answer(503)(request, response)
    })
    expect(await read()).toMatchObject({ release: '1.2' })
  })

  it('of a connection has its cause', async () => {
    github.replies.set(path, (_request: unknown, response: ServerResponse) => void response.destroy())
    const error = await errorOf()
    expect(error.kind).toBe('network')
    expect(error.message).toBe(`GitHub: GET ${path} could not be read (no complete reply, or a server error)`)
    expect(error.cause).toMatchObject({ kind: 'network' })
  })

  it('is the reason of the stop after one', async () => {
    const reason = new Error('it takes too long')
    github.replies.set(path, () => stop.abort(reason))
    await expect(read()).rejects.toBe(reason)
  })
})

describe('a rate limit', () => {
  const inAMinute = 'the rate limit is exceeded; rate limited until 2026-01-15T03:01:00.000Z'

  it.each<[status: number, body: unknown]>([
    [403, { message: 'You have exceeded a secondary rate limit.' }],
    [403, { message: 'You have triggered an Abuse Detection mechanism.' }],
    [200, { message: 'secondary rate' }],
    [429, {}],
  ])('is told by %i %j, and lasts a minute', async (status, body) => {
    replace(path, status, body)
    const error = await errorOf()
    expect(error.message).toBe(`GitHub: GET ${path}: ${inAMinute}`)
    expect(error).toMatchObject({ kind: 'rate_limited', status, retryAt: wall + 60_000 })
    expect(github.log).toHaveLength(1)
  })

  it.each([[{ message: 'secondary rates' }], [{ message: 'abuse' }], [['secondary rate']], [null], ['"secondary rate"']])(
    'is not told by 403 %j',
    async (body) => {
      replace(path, 403, body === null ? 'null' : body)
      expect((await errorOf()).message).toBe(`GitHub: GET ${path} answered 403: check GITHUB_TOKEN`)
    },
  )

  it('refuses later requests too', async () => {
    replace(path, 200, { default_branch: 'main' }, { ...json, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' })
    const error = await errorOf()
    expect(error.message).toBe(`GitHub: GET ${path}/languages: ${inAMinute}`)
    expect(github.log).toHaveLength(1)
  })

  it.each([
    ['at once', 15],
    ['not at all', 16],
  ])('of %s is waited for up to 15 seconds', async (what, seconds) => {
    let now = wall
    const after = (milliseconds: number, action: () => void) => {
      now += milliseconds
      setImmediate(action)
      return () => {}
    }
    replace(path, 200, { default_branch: 'main' }, { ...json, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${seconds}` })
    const result = read({ clock: { wall: () => now, after } })
    if (what === 'at once') {
      expect(await result).toMatchObject({ release: '1.2' })
      expect(waits).toEqual([['GitHub', 15_000]])
    } else {
      await expect(result).rejects.toMatchObject({ kind: 'rate_limited', retryAt: wall + 16_000 })
      expect(waits).toEqual([])
    }
  })
})

describe('a redirect', () => {
  const redirect = (from: string, location: string) => replace(from, 301, '', { location })
  const found = { default_branch: 'main', pushed_at: date }

  it('is followed three times, with the token and the ETag', async () => {
    for (const [index, from] of [path, '/1', '/2'].entries()) redirect(from, `/${index + 1}`)
    cached.set(path, { etag: '"old"', body: {} })
    let headers: IncomingHttpHeaders = {}
    github.replies.set('/3', (request: IncomingMessage, response: ServerResponse) => {
      headers = request.headers
      answer(200, found, { ...json, etag: '"new"' })(request, response)
    })
    expect(await read({ env: { GITHUB_TOKEN: 'ghp_averysecrettoken' } })).toMatchObject({ release: '1.2' })
    expect(headers).toMatchObject({ authorization: 'Bearer ghp_averysecrettoken', 'if-none-match': '"old"' })
    expect(cached.get(path)).toEqual({ etag: '"new"', body: found })
  })

  it('is not followed a fourth time', async () => {
    for (const [index, from] of [path, '/1', '/2', '/3'].entries()) redirect(from, `/${index + 1}`)
    github.replies.set('/4', found)
    expect((await errorOf()).message).toBe(`GitHub: GET ${path}: it redirects more than 3 times`)
    expect(github.log).toHaveLength(4)
  })

  it('keeps the query that it names', async () => {
    redirect(commitsPath, '/repositories/1/commits?sha=x%26y&per_page=1')
    const other = '2025-01-01T00:00:00Z'
    github.replies.set('/repositories/1/commits?sha=x%26y&per_page=1', [{ commit: { author: { date: other } } }])
    expect((await read()).lastUpdate).toBe(Date.parse(other) / 1000)
  })

  it('is followed below a base URL, which may end with a slash', async () => {
    const replies = [...github.replies]
    github.replies.clear()
    for (const [at, reply] of replies) github.replies.set(`/api/v3${at}`, reply)
    github.replies.set('/api/v3/repositories/1', found)
    redirect(`/api/v3${path}`, '/api/v3/repositories/1')
    for (const end of ['', '/']) {
      expect(await read({ env: { GITHUB_API_URL: `${github.url}/api/v3${end}` } })).toMatchObject({ release: '1.2' })
    }
    for (const target of ['/repos/a/c', '/api/v31', '/x/api/v3/repositories/1', '/api/v3', '/api/v3/../x']) {
      redirect(`/api/v3${path}`, target)
      github.replies.set(target, found)
      github.log.length = 0
      const { message } = await errorOf({ env: { GITHUB_API_URL: `${github.url}/api/v3` } })
      expect(message).toBe(`GitHub: GET ${path}: it redirects to a path outside /api/v3/`)
      expect(github.log).toHaveLength(1)
    }
  })

  it('to another origin, or to none, is not followed', async () => {
    for (const location of [github.url.replace('127.0.0.1', 'localhost'), 'http://[']) {
      redirect(path, `${location}/repositories/1`)
      github.replies.set('/repositories/1', found)
      github.log.length = 0
      await errorOf()
      expect(github.log).toEqual([`GET ${path} 301`])
    }
  })
})
