import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../../src/config/config.ts'
import { projects } from '../../../../src/data/scripts/projects/index.ts'
import { runProjects } from '../../../../src/data/scripts/projects/script.ts'
import { noCounts, noProgress, type RunContext, scriptSettings } from '../../../../src/data/scripts/script.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { addRepository, type FakeGithub, fakeGithub } from './fake-github.ts'

const wall = Date.UTC(2026, 0, 15, 3, 0, 12)
const listed = [
  {
    title: 'Old',
    description: 'First',
    status: 'release',
    statuscolor: 'green',
    categories: ['tools'],
    gh_api: 'someone/old',
    links: { GH: 'https://example.org/old', WB: null },
  },
  { title: '', description: '', gh_api: '' },
  {
    title: 'New',
    gh_api: 'someone/new',
    version: '0.1+alpha1',
    links: { MR: 'https://modrinth.example/new', CF: 'https://curseforge.example/new' },
    visible: false,
  },
  { title: 'By hand', version: '---', description: 'No repository' },
]

let github: FakeGithub
let dataDir: string
let lines: string[]
const scriptWith = (options: Parameters<typeof runProjects>[1]) => ({
  ...projects,
  run: (context: RunContext) => runProjects(context, options),
})
const script = scriptWith({ retryPauseMs: 1 })

async function run(options: Partial<RunContext> = {}, env: Record<string, string> = {}, requested = script) {
  const print = (...parts: unknown[]) => void lines.push(JSON.stringify(parts))
  const context: RunContext = {
    values: scriptSettings(loadConfig({ env: { GITHUB_API_URL: github.url, ...env } })),
    dataDir,
    signal: new AbortController().signal,
    log: { debug: print, info: print, warn: print, error: print },
    clock: { ...systemClock, wall: () => wall },
    progress: noProgress,
    counts: { ...noCounts },
    full: false,
    dryRun: false,
    force: false,
    ...options,
  }
  const result = await requested.run(context)
  return { ...result, counts: context.counts }
}
const versions = async () => (JSON.parse(await published()) as { version: string }[]).slice(1).map(({ version }) => version)
/** GitHub answers a path with an exceeded rate limit. */
function limit(path: string): number {
  const reset = Math.floor(Date.now() / 1000) + 3000
  const headers = { 'content-type': 'application/json', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) }
  github.replies.set(path, (_request: unknown, response: import('node:http').ServerResponse) =>
    response.writeHead(403, headers).end('{"message":"API rate limit exceeded"}'),
  )
  return reset
}
const published = () => readFile(join(dataDir, 'projects.json'), 'utf8')
const write = (value: unknown) =>
  writeFile(join(dataDir, 'projects.config.json'), typeof value === 'string' ? value : JSON.stringify(value))

beforeEach(async () => {
  lines = []
  dataDir = await mkdtemp(join(tmpdir(), 'tickwarden-projects-'))
  github = await fakeGithub()
  addRepository(github, 'someone/old', { languages: { Java: 1200, Kotlin: 34 }, tag: 'v1.2.3', date: '2024-05-01T10:00:00Z' })
  addRepository(github, 'someone/new', { languages: { TypeScript: 5 }, date: '2025-06-01T00:00:00+02:00', branch: 'dev/next' })
  await write(listed)
})
afterEach(() => github.close())

const whole = `[
{"last_update":"2026-01-15 03:00:12 UTC"},
{"title":"New","description":"","status":"","statuscolor":"","categories":[],"languages":{"TypeScript":5},"gh_api":"someone/new","version":"0.1+alpha1","backgroud":"","links":{"MR":"https://modrinth.example/new","CF":"https://curseforge.example/new"},"visible":false,"last_update":1748728800},
{"title":"Old","description":"First","status":"release","statuscolor":"green","categories":["tools"],"languages":{"Java":1200,"Kotlin":34},"gh_api":"someone/old","version":"1.2.3","backgroud":"","links":{"GH":"https://example.org/old","WB":null},"visible":true,"last_update":1714557600},
{"title":"By hand","description":"No repository","status":"","statuscolor":"","categories":[],"languages":{},"gh_api":"","version":"---","backgroud":"","links":{},"visible":true,"last_update":null}
]
`

describe('the projects script', () => {
  it('writes the snapshot byte for byte, without a token', async () => {
    expect(await run()).toEqual({
      outcome: 'done',
      counts: { read: 3, added: 3, changed: 0, unchanged: 0, rejected: 0 },
      errors: [],
    })
    expect(await published()).toBe(whole)
    expect(new Set(github.tokens)).toEqual(new Set([undefined]))
    expect((await readdir(dataDir)).sort()).toEqual(['projects.cache.json', 'projects.config.json', 'projects.json'])
  })

  it('accepts a byte order mark in the list', async () => {
    await write(`\ufeff${JSON.stringify(listed)}`)
    expect(await run()).toMatchObject({ outcome: 'done', errors: [] })
  })

  it('sends the ETags of the previous run, except with --full', async () => {
    await run()
    github.log.length = 0
    expect(await run()).toMatchObject({ outcome: 'done', counts: { read: 3, unchanged: 3 } })
    expect(github.log.filter((line) => line.endsWith(' 304'))).toHaveLength(7)
    expect(github.log.filter((line) => line.endsWith(' 200'))).toEqual([])
    expect(await published()).toBe(whole)
    github.log.length = 0
    await run({ full: true })
    expect(github.log.filter((line) => line.endsWith(' 304'))).toEqual([])
  })

  it('requests again what a damaged cache has lost', async () => {
    await run()
    const file = join(dataDir, 'projects.cache.json')
    const { origin, replies } = JSON.parse(await readFile(file, 'utf8')) as { origin: string; replies: Record<string, object> }
    const damaged = [null, 5, {}, { etag: 7, body: {} }, { etag: '"a"' }]
    const paths = Object.keys(replies)
    const broken = Object.fromEntries(paths.map((path, index) => [path, index in damaged ? damaged[index] : replies[path]]))
    await writeFile(file, JSON.stringify({ origin, replies: broken }))
    github.log.length = 0
    expect(await run()).toMatchObject({ outcome: 'done', counts: { read: 3, unchanged: 3 } })
    expect(github.log.filter((line) => line.endsWith(' 304'))).toHaveLength(paths.length - damaged.length)
    expect(await published()).toBe(whole)
  })

  it('forgets the replies for repositories that are no longer listed', async () => {
    addRepository(github, 'someone/newer', { languages: {}, date: '2020-01-01T00:00:00Z' })
    await write([...listed, { title: 'Newer', gh_api: 'someone/newer' }])
    await run()
    await write(listed)
    expect(await run({ force: true })).toMatchObject({ outcome: 'done' })
    const { replies } = JSON.parse(await readFile(join(dataDir, 'projects.cache.json'), 'utf8')) as { replies: object }
    expect(Object.keys(replies).filter((path) => path.startsWith('/repos/someone/newer'))).toEqual([])
    github.log.length = 0
    expect(await run()).toMatchObject({ outcome: 'done', counts: { unchanged: 3 } })
    expect(github.log.filter((line) => line.endsWith(' 200'))).toEqual([])
  })

  it('does not take a list that cannot be read for a missing one', async () => {
    const list = join(dataDir, 'projects.config.json')
    await rm(list)
    await mkdir(list)
    await expect(run()).rejects.toThrow(`EISDIR: illegal operation on a directory, read '${list}'`)
  })

  it.skipIf(process.platform === 'win32')('does not wait for the writer of a list that is a pipe', async () => {
    const list = join(dataDir, 'projects.config.json')
    await rm(list)
    execFileSync('mkfifo', [list])
    await expect(run()).rejects.toThrow('projects.config.json is not a regular file')
  })

  it('publishes a list without any repository', async () => {
    await write([{ title: 'By hand' }])
    expect(await run()).toMatchObject({ outcome: 'done', counts: { read: 1, added: 1, rejected: 0 }, errors: [] })
    expect(await versions()).toEqual(['---'])
    expect(github.log).toEqual([])
  })

  it('fails without reading a repository, although other projects are listed', async () => {
    github.replies.clear()
    expect(await run()).toMatchObject({ outcome: 'failed', counts: { read: 3, added: 1, rejected: 2 } })
    expect(await readdir(dataDir)).toEqual(['projects.config.json'])
  })

  it('publishes a list that has lost most projects only by force', async () => {
    await run()
    await write([{ title: 'By hand', version: '---' }])
    const reason = 'the new snapshot is rejected: it has 1 entries, the current one has 3'
    expect(await run()).toMatchObject({ outcome: 'failed', errors: [reason] })
    expect(await published()).toBe(whole)
    expect(await run({ force: true })).toMatchObject({ outcome: 'done', errors: [] })
    expect(await versions()).toEqual(['---'])
  })

  it('shows its progress by repository, or by title', async () => {
    const steps: unknown[] = []
    await run({ progress: { ...noProgress, total: (parts) => steps.push(parts), step: (label) => steps.push(label) } })
    expect(steps).toEqual([3, 'someone/old', 'someone/new', 'By hand'])
  })

  it('sends the token, and never writes it', async () => {
    const token = 'ghp_averysecrettoken'
    github.replies.set('/repos/someone/new', (_: unknown, response: { writeHead: (s: number) => { end: () => void } }) =>
      response.writeHead(401).end(),
    )
    const result = await run({}, { GITHUB_TOKEN: token })
    expect(result).toMatchObject({ outcome: 'partly', errors: [expect.stringContaining('check GITHUB_TOKEN')] })
    expect(github.tokens.every((given) => given === `Bearer ${token}`)).toBe(true)
    const files = await Promise.all((await readdir(dataDir)).map((file) => readFile(join(dataDir, file), 'utf8')))
    expect([JSON.stringify(result), ...lines, ...files].join('')).not.toContain(token)
  })

  it.each<[string, (response: import('node:http').ServerResponse) => void, string]>([
    ['a server error', (response) => response.writeHead(502).end('<html>Bad gateway'), 'could not be read'],
    ['a hang', () => {}, 'could not be read'],
    [
      'a cut connection',
      (response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': '99' })
          .write('{"a', () => response.destroy()),
      'could not be read',
    ],
    [
      'HTML instead of JSON',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'not valid JSON',
    ],
    [
      'another JSON',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[1]'),
      'the reply is not a repository',
    ],
    [
      'a repository that is gone',
      (response) => response.writeHead(404, { 'content-type': 'application/json' }).end('{}'),
      'no such repository',
    ],
  ])('keeps the previous values of one repository on %s, and continues', async (name, answer, message) => {
    await run()
    github.replies.set('/repos/someone/old', (_request: unknown, response: import('node:http').ServerResponse) =>
      answer(response),
    )
    github.replies.set('/repos/someone/new/languages', { TypeScript: 6 })
    const timeLimit = name === 'a hang' ? { timeoutMs: 300 } : {}
    const result = await run({}, {}, scriptWith({ retryPauseMs: 1, ...timeLimit }))
    expect(result).toMatchObject({ outcome: 'partly', counts: { read: 3, changed: 1, unchanged: 1, rejected: 1 } })
    expect(result.errors).toEqual([expect.stringMatching(new RegExp(`^someone/old: .*${message}.*previous values are kept$`))])
    expect(await published()).toBe(whole.replace('"TypeScript":5', '"TypeScript":6'))
  })

  it('stops at an exceeded rate limit, and reports its end', async () => {
    await run()
    const reset = limit('/repos/someone/old')
    limit('/repos/someone/new')
    github.log.length = 0
    expect(await run()).toMatchObject({ outcome: 'rate_limited', retryAt: Math.min(reset * 1000, wall + 86_400_000) })
    expect(github.log).toHaveLength(1)
    expect(await published()).toBe(whole)
  })

  describe('of a long list', () => {
    type Reply = (request: unknown, response: import('node:http').ServerResponse) => void
    const names = Array.from({ length: 40 }, (_, index) => `someone/r${index}`)
    const all = (reply: Reply) => {
      for (const name of names) github.replies.set(`/repos/${name}`, reply)
    }
    beforeEach(() => write(names.map((name) => ({ title: name, gh_api: name }))))

    it.each<[what: string, reply: Reply, timeoutMs: number]>([
      ['does not answer', () => {}, 100],
      ['cuts each connection', (_, response) => response.destroy(), 12_000],
      ['has an outage', (_, response) => response.writeHead(503).end(), 12_000],
    ])('tries two repositories if GitHub %s', async (_what, reply, timeoutMs) => {
      all(reply)
      const result = await run({}, {}, scriptWith({ retryPauseMs: 1, timeoutMs }))
      expect(result).toMatchObject({ outcome: 'failed', counts: { read: 40, rejected: 40 } })
      expect(result.errors).toEqual([
        expect.stringMatching(/^someone\/r0: .*could not be read/),
        expect.stringMatching(/^someone\/r1: .*could not be read/),
        expect.stringMatching(/^not read because GitHub is unreachable, their previous values are kept: someone\/r2, .*r39$/),
      ])
      expect(github.log.length).toBeLessThanOrEqual(4)
      expect(await readdir(dataDir)).toEqual(['projects.config.json'])
    })

    it('publishes the repositories that were read before GitHub went down', async () => {
      all((_, response) => response.destroy())
      addRepository(github, 'someone/r0', { languages: {}, date: '2024-01-01T00:00:00Z' })
      expect(await run()).toMatchObject({ outcome: 'partly', counts: { added: 1, rejected: 39 } })
      expect(github.log.length).toBeLessThanOrEqual(4 + 4)
    })

    it.each<[what: string, headers: Record<string, string>, seconds: number]>([
      ['and does not say how long', {}, 60],
      ['for longer than a run waits', { 'retry-after': '900' }, 900],
    ])('ends immediately at a secondary rate limit %s', async (_what, headers, seconds) => {
      all((_, response) =>
        response
          .writeHead(403, { 'content-type': 'application/json', 'x-ratelimit-remaining': '4000', ...headers })
          .end('{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}'),
      )
      const result = await run()
      const retryAt = wall + seconds * 1000
      expect(result).toMatchObject({ outcome: 'rate_limited', retryAt, counts: { rejected: 40 } })
      expect(result.errors[0]).toContain(`rate limited until ${new Date(retryAt).toISOString()}`)
      expect(github.log.length).toBeLessThanOrEqual(2)
    })
  })

  it('follows the redirects of a repository that was renamed, but not to another host', async () => {
    const redirect = (location: string) => (_request: unknown, response: import('node:http').ServerResponse) =>
      response.writeHead(301, { location }).end()
    for (const [path, reply] of [...github.replies]) {
      if (!path.startsWith('/repos/someone/old')) continue
      const target = path.replace('/repos/someone/old', '/repositories/1')
      github.replies.set(target, reply)
      github.replies.set(path, redirect(`${github.url}${target}`))
    }
    expect(await run()).toMatchObject({ outcome: 'done', errors: [] })
    expect(await published()).toBe(whole)
    expect(github.log).toContain('GET /repositories/1/languages 200')
    github.replies.set('/repos/someone/old', redirect(github.url.replace('127.0.0.1', 'localhost')))
    const result = await run({}, { GITHUB_TOKEN: 'ghp_averysecrettoken' })
    const elsewhere = `redirects to ${github.url.replace('127.0.0.1', 'localhost')}, another origin; set the URL there if you trust it`
    expect(result.errors).toEqual([`someone/old: GitHub: GET /repos/someone/old: it ${elsewhere}; its previous values are kept`])
  })

  it('reports that GitHub has blocked a repository, not a wrong token', async () => {
    github.replies.set('/repos/someone/old', (_request: unknown, response: import('node:http').ServerResponse) =>
      response
        .writeHead(403, { 'content-type': 'application/json' })
        .end('{"message":"Repository access blocked","block":{"reason":"tos"}}'),
    )
    expect((await run()).errors).toEqual([
      'someone/old: GitHub: GET /repos/someone/old answered 403: GitHub has blocked access to this repository; its previous values are kept',
    ])
  })

  it.each([
    ['v1.2', '1.2'],
    ['vv1.2', 'v1.2'],
    ['version-1', 'version-1'],
    ['vNext', 'vNext'],
    ['1.0v', '1.0v'],
  ])('converts the tag %s to the version %s', async (tag, version) => {
    addRepository(github, 'someone/old', { languages: {}, tag, date: '2024-05-01T10:00:00Z' })
    await run()
    expect(await versions()).toContain(version)
  })

  it('leaves out invalid language sizes, with a note', async () => {
    const sizes = '{"Java":1200,"Huge":99999999999999999999,"Vast":1e300,"Less":-1,"Half":0.5,"Text":"7"}'
    github.replies.set('/repos/someone/old/languages', (_request: unknown, response: import('node:http').ServerResponse) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(sizes),
    )
    const result = await run()
    expect(result).toMatchObject({ outcome: 'done', counts: { added: 3, rejected: 0 } })
    expect(result.errors).toEqual(
      ['Huge', 'Vast', 'Less', 'Half', 'Text'].map(
        (name) => `someone/old: the size of the language "${name}" is not a number of bytes; it is left out`,
      ),
    )
    expect(await published()).toContain('"languages":{"Java":1200},')
  })

  it('accepts a list made from a published file, with a blank template', async () => {
    const template = {
      ...{ title: '', description: '', status: '', statuscolor: '', categories: [''], languages: {}, gh_api: '', version: '' },
      ...{ backgroud: '', links: { GH: null }, visible: '', updated: null },
    }
    await write([template, ...listed.map((project) => ({ ...project, languages: { C: 1 }, last_update: 5, updated: 'x' }))])
    expect(await run()).toEqual({
      outcome: 'done',
      counts: { read: 3, added: 3, changed: 0, unchanged: 0, rejected: 0 },
      errors: [],
    })
    expect(lines.filter((line) => !line.includes('GET /'))).toEqual([])
    expect(await published()).toBe(whole)
  })

  it('keeps the ETags of repositories skipped by a rate limit, and lists them', async () => {
    await write([...listed, { title: 'C', gh_api: 'someone/c' }])
    addRepository(github, 'someone/c', { languages: {}, date: '2020-01-01T00:00:00Z' })
    await run()
    limit('/repos/someone/new')
    for (const full of [false, true]) {
      const result = await run({ full })
      expect(result).toMatchObject({ outcome: 'rate_limited', counts: { unchanged: 2, rejected: 2 } })
      expect(result.errors).toEqual([
        expect.stringMatching(/^someone\/new: .*rate limit is exceeded; rate limited until 20.*Z; its previous values are kept$/),
        'not read because of the rate limit, their previous values are kept: someone/c',
      ])
      expect(lines.join('')).toContain('their previous values are kept: someone/c')
    }
    addRepository(github, 'someone/new', { languages: { TypeScript: 5 }, date: '2025-06-01T00:00:00+02:00', branch: 'dev/next' })
    github.log.length = 0
    expect(await run()).toMatchObject({ outcome: 'done', counts: { unchanged: 4 } })
    expect(github.log.filter((line) => line.endsWith(' 200'))).toEqual([])
    expect(github.log.filter((line) => line.endsWith(' 304'))).toHaveLength(10)
  })

  it('keeps the version of a deleted release, unless the list has one', async () => {
    await run()
    await write([
      { title: 'Old', gh_api: 'someone/old', version: '---' },
      { title: 'New', gh_api: 'someone/new', version: '0.2' },
    ])
    github.replies.delete('/repos/someone/old/releases/latest')
    expect(await run({ force: true })).toMatchObject({ outcome: 'done' })
    expect(await versions()).toEqual(['0.2', '1.2.3'])
    await write([
      { title: 'Old', gh_api: 'someone/old', version: '1.3' },
      { title: 'New', gh_api: 'someone/new' },
    ])
    await run()
    expect(await versions()).toEqual(['0.2', '1.3'])
  })

  it.each([
    ['cannot be asked', () => limit('/repos/someone/old')],
    ['is gone', () => github.replies.delete('/repos/someone/old')],
  ])('keeps the values of a repository that %s from a file with other names for them', async (_what, prepare) => {
    const old = {
      title: 'Old',
      gh_api: 'someone/old',
      version: '9',
      languages: { Java: '7' },
      visible: true,
      updated: 1_700_000_000,
    }
    await writeFile(join(dataDir, 'projects.json'), JSON.stringify([{ updated: '2024-01-01 00:00:00 UTC' }, old]))
    prepare()
    await write([listed[2], listed[0]])
    await run()
    expect(await published()).toContain('"languages":{"Java":7},"gh_api":"someone/old","version":"9"')
    expect(await published()).toContain('"last_update":1700000000}')
  })

  it('uses the last valid copy of a broken snapshot, and reports that', async () => {
    await run()
    github.replies.set('/repos/someone/new/languages', { TypeScript: 6 })
    await run()
    await writeFile(join(dataDir, 'projects.json'), whole.slice(0, 300))
    github.replies.delete('/repos/someone/old')
    expect(await run()).toMatchObject({ outcome: 'partly', counts: { changed: 1, unchanged: 1, rejected: 1 } })
    expect(await published()).toBe(whole.replace('"TypeScript":5', '"TypeScript":6'))
    expect(lines.join('')).toContain('projects: projects.json is not a valid snapshot; projects.json.1 is used instead')
  })

  it('reports that a broken snapshot has no copy', async () => {
    await writeFile(join(dataDir, 'projects.json'), whole.slice(0, 300))
    expect(await run()).toMatchObject({ outcome: 'done', counts: { added: 3 } })
    expect(lines.join('')).toContain('projects.json is not a valid snapshot; none of the previous ones is valid either')
  })

  it.each<[string, () => unknown]>([
    ['is refused', () => write([{ title: 'Last' }])],
    ['learns nothing', () => github.replies.clear()],
    ['learns something', () => github.replies.delete('/repos/someone/old')],
    ['is cut short', () => limit('/repos/someone/new')],
    ['has no list', () => write('[')],
  ])('ends in a dry run as in a run that %s', async (_what, prepare) => {
    await run()
    const before = await published()
    await prepare()
    const dry = await run({ dryRun: true })
    expect(await published()).toBe(before)
    expect((await readdir(dataDir)).sort()).toEqual(['projects.cache.json', 'projects.config.json', 'projects.json'])
    expect(await run()).toEqual(dry)
  })

  it('ends soon after it is aborted, without changing the snapshot', async () => {
    await run()
    const stop = new AbortController()
    github.replies.set('/repos/someone/new', () => stop.abort())
    const counts = { ...noCounts }
    await expect(run({ signal: stop.signal, counts })).rejects.toThrow()
    expect(await published()).toBe(whole)
    expect(counts).toEqual({ ...noCounts, read: 1, unchanged: 1 })
  })

  it('changes nothing in a dry run', async () => {
    expect(await run({ dryRun: true })).toMatchObject({ outcome: 'done', counts: { added: 3 } })
    expect(await readdir(dataDir)).toEqual(['projects.config.json'])
  })

  it('lists every mistake of the list, and what to do if it does not exist', async () => {
    await write([
      { title: 1, categories: 'a', gh_api: 'a b', colour: 'red' },
      7,
      { description: 'x' },
      { title: 'a', gh_api: 'X/y' },
      { title: 'b', gh_api: 'x/Y' },
    ])
    expect((await run()).errors).toEqual([
      expect.stringContaining('[0].colour: unknown field'),
      'projects.config.json: [0].title is 1; expected a string',
      'projects.config.json: [0].categories is "a"; expected a list of strings',
      'projects.config.json: [0].gh_api is "a b"; expected <owner>/<repository>, or empty',
      'projects.config.json: [1] is 7; expected a project',
      'projects.config.json: [2].title is missing; expected a string',
      expect.stringContaining('[4].gh_api is "x/Y", the same as [3]'),
    ])
    expect(lines).toContain(JSON.stringify(['projects: projects.config.json: [1] is 7; expected a project']))
    await write('[')
    expect(await run()).toMatchObject({ outcome: 'failed', errors: [expect.stringContaining('is not valid JSON')] })
    dataDir = join(dataDir, 'none')
    const missing = (message: RegExp) => ({ outcome: 'not_configured', errors: [expect.stringMatching(message)] })
    expect(await run()).toMatchObject(missing(/^projects\.config\.json does not exist in DATA_DIR: .* or set PROJECTS_CONFIG/))
    const elsewhere = { PROJECTS_CONFIG: join(dataDir, 'mine.json') }
    expect(await run({}, elsewhere)).toMatchObject(missing(/mine\.json, the file in PROJECTS_CONFIG, does not exist: /))
  })
})
