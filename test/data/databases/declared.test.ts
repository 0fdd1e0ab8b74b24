import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ConfigError, loadConfig } from '../../../src/config/config.ts'
import { checkDatabases } from '../../../src/data/check.ts'
import { takenNames } from '../../../src/data/databases/declaration.ts'
import { databases } from '../../../src/data/databases/index.ts'
import { createDataService, registerDataService } from '../../../src/data/index.ts'
import { createHttpApp } from '../../../src/http/app.ts'
import { registerDocs } from '../../../src/http/openapi/docs.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { until } from '../../helpers/until.ts'

let folder: string
const closing: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tickwarden-declared-'))
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  await rm(folder, { recursive: true })
})

const declaration = (more = '') => `
data: { only: true }
databases:
  - name: books
    file: ${join(folder, 'books.json')}
    description: Books I have read
    order: [-read, title]
    fields:
      title:  { kind: text, required: true }
      tags:   { kind: values }
      read:   { kind: date }
      rating: { kind: number }
      owned:  { kind: boolean, default: true }
      link:   { kind: link }
    visible: owned
${more}`

async function configOf(text: string, env = {}) {
  const file = join(folder, 'tickwarden.yaml')
  await writeFile(file, text)
  return loadConfig({ file, env: { UPDATE_SCHEDULE: 'off', ...env } })
}

async function start(snapshot: unknown, text = declaration()) {
  await writeFile(join(folder, 'books.json'), typeof snapshot === 'string' ? snapshot : JSON.stringify(snapshot))
  const service = await createDataService({ config: await configOf(text), clock: systemClock, log: silentLog })
  const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*' })
  await registerDocs(app as never, { styles: '', databaseTags: service.tags })
  registerDataService(app as never, service)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  closing.push(
    () => app.close(),
    () => service.close(),
  )
  const get = (path: string) => fetch(`${url}/v1/books/${path}`)
  const titles = async (path: string): Promise<string> => {
    const reply = await get(`${path}${path.includes('?') ? '&' : '?'}limit=50&offset=0`)
    const body = (await reply.json()) as { results: { title: string }[]; detail?: string }
    return body.detail ?? body.results.map(({ title }) => title).join(' ')
  }
  const status = async () =>
    ((await (await fetch(`${url}/v1/status`)).json()) as { databases: Record<string, unknown>[] }).databases.find(
      ({ database }) => database === 'books',
    )
  return { url, get, titles, status, service }
}

const entries = [
  { title: 'Beta', tags: ['sea', 'Calm'], read: '2026-2-1', rating: 4.5, link: 'https://example.org/b' },
  { title: 'alpha', tags: ['sea'], read: '2026-01-31', rating: 4.5 },
  { title: 'Gamma', read: null, rating: -1 },
  { title: 'hidden', tags: ['secret'], owned: false },
  { title: 'Delta' },
]
const snapshot = { last_update: '2026-11-22T10:00:00Z', entries }

describe('a declared database', () => {
  it('has the routes of its fields', async () => {
    const { get, titles } = await start(snapshot)
    expect(await titles('filter/getall')).toBe('Beta alpha Delta Gamma')
    expect(await titles('filter/title?title=ET')).toBe('Beta')
    expect(await titles('filter/tags?tags=sea')).toBe('Beta alpha')
    expect(await titles('filter/tags?tags=calm')).toBe('')
    expect(await titles('filter/read?start=2026-01-01&end=2026-01-31')).toBe('alpha')
    expect(await titles('filter/rating?start=-1&end=4.4')).toBe('Gamma')
    expect(await titles('filter/owned?owned=true')).toBe('Beta alpha Delta Gamma')
    expect(await titles('filter/owned?owned=yes')).toMatch(/^Parameter "owned" is "yes"; expected one of true, false/)
    expect(await titles('filter/rating?start=2&end=1')).toMatch(/"start" is "2", which is more than "end"/)
    expect(await (await get('last_update')).json()).toBe('2026-11-22 10:00:00 UTC')
    expect(await (await get('filter/gettags')).json()).toEqual({ results: ['Calm', 'sea'], total_results: 2 })
    expect(await (await get('filter/getowned')).json()).toEqual({ results: ['true'], total_results: 1 })
    expect((await get('filter/link?link=x&limit=1&offset=0')).status).toBe(404)
    const page = await get('filter/getall?limit=1&offset=1')
    expect(page.headers.get('x-total-count')).toBe('4')
    expect(page.headers.get('link')).toContain('</v1/books/filter/getall?limit=1&offset=2>; rel="next"')
    expect(await page.json()).toEqual({
      results: [{ title: 'alpha', tags: ['sea'], read: '2026-01-31', rating: 4.5, owned: true, link: null }],
      count: 1,
    })
    expect((await get('filter/getall?limit=51&offset=0')).status).toBe(400)
  })

  it('is searched by several fields and sorted', async () => {
    const { get, titles } = await start(snapshot)
    expect(await titles('search')).toBe('Beta alpha Delta Gamma')
    expect(await titles('search?title=a&tags=sea&rating.from=4')).toBe('Beta alpha')
    expect(await titles('search?read.to=2026-01-31')).toBe('alpha')
    expect(await titles('search?rating=4.5&read=2026-02-01')).toBe('Beta')
    expect(await titles('search?sort=title')).toBe('alpha Beta Delta Gamma')
    expect(await titles('search?sort=-title')).toBe('Gamma Delta Beta alpha')
    expect(await titles('search?sort=title&order=desc')).toBe('Gamma Delta Beta alpha')
    expect(await titles('search?sort=-rating,title')).toBe('alpha Beta Gamma Delta')
    expect(await titles('search?sort=rating&order=asc')).toBe('Gamma Beta alpha Delta')
    expect(await titles('search?sort=rating&order=desc')).toBe('Beta alpha Gamma Delta')
    expect(await titles('search?sort=read')).toBe('alpha Beta Delta Gamma')
    expect(await titles('search?sort=-read')).toBe('Beta alpha Delta Gamma')
    expect(await titles('search?sort=-owned,link')).toBe('Beta alpha Delta Gamma')
    expect(await titles('search?sort=tags')).toMatch(/^Parameter "sort" is "tags"; expected up to 10 of title, read/)
    expect(await titles('search?rating.from=many')).toMatch(/^Parameter "rating.from" is "many"; expected a decimal number/)
    expect(await titles('search?owned=maybe')).toMatch(/^Parameter "owned" is "maybe"; expected one of true, false/)
    expect(await titles('search?rating.from=4.5&rating.to=4.5&owned=true')).toBe('Beta alpha')
    expect(await titles('search?rating.from=2&rating.to=1')).toMatch(
      /^Parameter "rating.from" is "2", which is more than "rating.to"/,
    )
    expect(await titles('search?read.from=2026-2-1&read.to=2026-01-31')).toMatch(/^Parameter "read.from" is "2026-2-1", which/)
    const link = (await get('search?tags=sea&read.from=2026-1-1&sort=-title&limit=1&offset=0')).headers.get('link')
    expect(link).toContain('/v1/books/search?tags=sea&read.from=2026-1-1&sort=-title&limit=1&offset=1')
  })

  it('leaves out the links that would make the headers of a reply too long for clients', async () => {
    const fields = ['a', 'b', 'c', 'd', 'e', 'f']
    const long = '\u65e5'.repeat(200)
    const row = Object.fromEntries(fields.map((field) => [field, long]))
    const text = `data: { only: true }
databases:
  - { name: books, file: ${join(folder, 'books.json')}, fields: { ${fields.map((field) => `${field}: { kind: text }`).join(', ')} } }`
    const { get } = await start([row, row, row], text)
    const relations = async (count: number) => {
      const reply = await get(`search?${new URLSearchParams(Object.entries(row).slice(0, count))}&limit=1&offset=1`)
      expect(reply.headers.get('x-total-count')).toBe('3')
      return reply.headers.get('link')?.match(/(?<=rel=")\w+/g)
    }
    expect(await relations(1)).toEqual(['prev', 'next'])
    expect(await relations(3)).toEqual(['next'])
    expect(await relations(6)).toBeUndefined()
  })

  it('sorts texts however their accents are composed, and those without a text last', async () => {
    const texts = ['zebra', 'e\u0301clair', '', 'Éclair', 'f']
    const { titles } = await start(texts.map((link, rating) => ({ title: String(rating), link, rating })))
    expect(await titles('search?sort=link,title')).toBe('4 0 1 3 2')
    expect(await titles('search?sort=-link,title')).toBe('1 3 0 4 2')
  })

  it('is in /v1/status with rejected entries and warnings, in OpenAPI and in the metrics', async () => {
    const bad = [{ title: 7 }, { tags: ['a'] }, { title: 'ok', read: '1.2.2026', wrong: 1, link: 'nowhere' }, 'text']
    const { url, status, titles, service } = await start([{ last_update: '2026-11-22 10:00:00 UTC' }, ...bad])
    expect(await titles('filter/getall')).toBe('ok')
    expect(await status()).toMatchObject({
      state: 'ready',
      rejected: 3,
      rejected_entries: [
        { position: 1, reason: 'title must be string' },
        { position: 2, reason: 'title must be string' },
        { position: 4, reason: 'is not an object' },
      ],
      warnings: [
        { position: 3, reason: 'read is not a calendar date of the form YYYY-MM-DD' },
        { position: 3, reason: 'link is not a link' },
        { position: 3, reason: 'wrong is not a field of this database' },
      ],
      last_update: '2026-11-22 10:00:00 UTC',
    })
    const openapi = (await (await fetch(`${url}/openapi.json`)).json()) as { tags: unknown; paths: Record<string, unknown> }
    expect(openapi.tags).toContainEqual({ name: 'books', description: 'Books I have read' })
    expect(Object.keys(openapi.paths).filter((path) => path.startsWith('/v1/books/'))).toHaveLength(10)
    expect(service.store.metrics()).toContainEqual(
      expect.objectContaining({ database: 'books', up: true, entries: 1, rejected: 3 }),
    )
  })

  it('has a valid description, also if it shares a tag or has nothing to sort by', async () => {
    const more = `
  - { name: others, file: ${join(folder, 'books.json')}, tag: books, fields: { tags: { kind: values, filter: false } } }`
    const { url } = await start(snapshot, declaration(more))
    const { tags, paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      tags: { name: string }[]
      paths: Record<string, { get: { parameters: { name: string }[]; responses: Record<string, { content: object }> } }>
    }
    expect(tags.filter(({ name }) => name === 'books')).toEqual([{ name: 'books', description: 'Books I have read' }])
    const search = paths['/v1/others/search']?.get
    expect(search?.parameters.map(({ name }) => name)).toEqual(['limit', 'offset'])
    // An example that does not match the schema is worse than none.
    expect(JSON.stringify(search?.responses['200'])).not.toContain('[null]')
  })

  it('rejects a number that JSON cannot have', async () => {
    const { status } = await start('[{"title": "a", "rating": 1e999}]')
    expect(await status()).toMatchObject({ rejected_entries: [{ position: 0, reason: 'rating must be number' }] })
  })

  it.each([
    [`[${JSON.stringify({ title: 'a' })}]`, 'ready', undefined],
    ['{"entries": [{"title": "a"}]}', 'ready', undefined],
    ['[\n {"title": "a"},\n]', 'failed', 'it is not valid JSON (line 3, column 1: expected a value; is there a comma too many?)'],
    [
      '[\n {"title": "a",}\n]',
      'failed',
      'it is not valid JSON (line 2, column 16: expected a name in double quotes; is there a comma too many?)',
    ],
    ['{"books": []}', 'failed', 'it is neither a JSON array nor {"last_update": ..., "entries": [...]}'],
    ['{"last_update": "today", "entries": []}', 'failed', 'its last_update is not a time such as 2026-11-22T10:00:00Z'],
  ])('reads %s', async (text, state, error) => {
    const { status, get } = await start(text)
    expect(await status()).toMatchObject({ state, ...(error !== undefined && { error }) })
    if (state === 'ready') expect(await (await get('last_update')).json()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    else expect((await get('last_update')).status).toBe(503)
  })

  it('has a later Last-Modified after every change of its content, also to an earlier last_update', async () => {
    const { get, titles } = await start(snapshot)
    const modified = async () => (await get('filter/getall?limit=9&offset=0')).headers.get('last-modified') ?? ''
    for (const [title, last_update] of [
      ['x', '2026-11-22T10:00:00Z'],
      ['y', '2025-01-01T00:00:00Z'],
    ]) {
      const before = await modified()
      await writeFile(join(folder, 'books.json'), JSON.stringify({ last_update, entries: [{ title }] }))
      await until(async () => (await titles('filter/getall')) === title)
      expect(Date.parse(await modified())).toBeGreaterThan(Date.parse(before))
    }
  })
})

it('has no Last-Modified in the future', async () => {
  const { get } = await start({ last_update: '2999-01-01T00:00:00Z', entries: [{ title: 'x' }] })
  const { headers } = await get('last_update')
  expect(Date.parse(headers.get('last-modified') ?? '')).toBeLessThanOrEqual(Date.parse(headers.get('date') ?? ''))
  expect(await (await get('last_update')).json()).toBe('2999-01-01 00:00:00 UTC')
})

describe('mistakes in a declaration', () => {
  it('are all named at the start', async () => {
    const text = `
databases:
  - { name: projects, file: a.json, fields: { a: { kind: integer }, limit: { kind: text } } }
  - { name: "a b", fields: { a: { kind: text, unknown: 1 }, "x y": { kind: date, list: true } }, order: [-b], visible: a }
  - { name: twice, url: "ftp://example.org", fields: {} }
  - { name: twice, file: b.json, colour: red, fields: { all: { kind: values }, n: { kind: number, default: many } } }
  - { name: twice, file: b.json, fields: { tags: { kind: values }, gettags: { kind: text } }, order: tags }
  - text
  - { name: a-b, file: b.json, fields: { d: { kind: date, default: tomorrow }, l: { kind: link, default: "javascript:a" } } }
  - { name: A_B, fields: {} }
  - { name: Run, file: b.json, fields: { a: { kind: date, default: 2026-02-30 } } }
`
    const problems = await configOf(text).then(
      () => [],
      (error: ConfigError) => error.problems.map((line) => line.replace(/^.*?: /, '')),
    )
    const expected = [
      'databases[0].name: "projects" is taken; choose another name',
      'databases[0].fields.a.kind: it is "integer"; expected one of text, values, date, number, boolean, link',
      'databases[0].fields.limit: this name is taken by a parameter of every route',
      'databases[1].name: it is "a b"; expected a name of up to 50 letters, digits, - and _ that begins with a letter',
      'databases[1].file: expected either file or url',
      'databases[1].fields.a.unknown: unknown setting; expected one of kind, description, required, default, filter, list',
      'databases[1].fields.x y: expected a name of up to 50 letters, digits and _ that begins with a letter',
      'databases[1].fields.x y.list: only fields of kind text, values and boolean can be listed',
      'databases[1].order: "b" is not a field',
      'databases[1].visible: it is "a"; expected the name of a boolean field',
      'databases[2].url: it is "ftp://example.org"; expected an https:// URL',
      'databases[3].colour: unknown setting; expected one of name, file, url, description, tag, order, fields, visible',
      'databases[3].fields.all: the route filter/getall is taken; choose another name',
      'databases[3].fields.n.default: it is "many"; expected a number',
      'databases[4].fields.gettags: the route filter/gettags is taken; choose another name',
      'databases[4].order: "tags" has several values',
      'databases: two databases have the name "twice"',
      'databases[6].fields.d.default: it is "tomorrow"; expected a calendar date of the form YYYY-MM-DD',
      'databases[6].fields.l.default: it is "javascript:a"; expected a link, such as https://example.org',
      'databases: "a-b" and "A_B" differ only in letter case, - and _; choose another name',
      'databases[8].name: "Run" is taken; choose another name',
      'databases[8].fields.a.default: it is "2026-02-30"; expected a calendar date of the form YYYY-MM-DD',
    ]
    for (const line of expected) expect(problems).toContain(line)
    expect(problems.some((line) => line.startsWith('databases[5]: expected a database'))).toBe(true)
  })

  it('include the name of a database in code', () => {
    for (const { name } of databases) expect(takenNames).toContain(name)
  })
})

it('are found by a check of the configuration, with the first rejected entries and their number', async () => {
  await writeFile(join(folder, 'books.json'), JSON.stringify([{ title: 'a', extra: 1 }, ...Array(30).fill({})]))
  const checks = await checkDatabases(await configOf(declaration(), { KCOMEBACKS_SNAPSHOT: join(folder, 'none.json') }))
  expect(checks.map(({ database, error }) => [database, error])).toEqual([
    ['projects', undefined],
    ['kcomebacks', 'the file does not exist'],
    ['books', undefined],
  ])
  expect(checks[2]?.rejected).toBe(30)
  expect(checks[2]?.rejected_entries).toHaveLength(20)
  expect(checks[2]?.rejected_entries?.[0]).toEqual({ position: 1, reason: 'title must be string' })
  expect(checks[2]?.warnings).toEqual([{ position: 0, reason: 'extra is not a field of this database' }])
})

it('a file with only databases needs no server with DATA_ONLY', async () => {
  const { servers, data } = await configOf(declaration())
  expect([servers, data.dataOnly]).toEqual([[], 'true'])
  await expect(configOf(declaration().replace('only: true', 'only: false'))).rejects.toThrow('lists no servers')
})
