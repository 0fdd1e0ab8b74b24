import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DataService, startDataService } from '../helpers/data-service.ts'

interface Content {
  readonly example?: unknown
}

interface Operation {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly { readonly name: string; readonly required: boolean; readonly example?: unknown }[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}

const paths = [
  ...['help', 'ping', 'version', 'debug/headers', 'status'],
  ...['last_update', 'filter/getall', 'filter/lastupdaterange', 'filter/title', 'filter/description', 'filter/search']
    .concat(['filter/status', 'filter/statuscolor', 'filter/category', 'filter/language', 'filter/getstatuses'])
    .concat(['filter/getcolors', 'filter/getcategories', 'filter/getlangs'])
    .map((path) => `projects/${path}`),
  ...['last_update', 'filter/id', 'filterid', 'filter/getall', 'filter/daterange', 'filter/first', 'filter/last', 'filter/artist']
    .concat([
      'filter/title',
      'filter/type',
      'filter/gettypes',
      'filter/getinfo',
      'upcoming/today',
      'upcoming/week',
      'upcoming/month',
    ])
    .map((path) => `kcomebacks/${path}`),
].map((path) => `/v1/${path}`)

let service: DataService
let described: Readonly<Record<string, { readonly get?: Operation }>>
const ajv = new Ajv2020({ strict: false, validateFormats: false })
beforeAll(async () => {
  // The sample data.
  service = await startDataService({}, { env: { DATA_DIR: '' } })
  const document = (await (await service.get('/openapi.json')).json()) as { paths: typeof described }
  described = document.paths
  ajv.addSchema(document, 'openapi')
})
afterAll(() => service.close())

it.each(paths)('%s is described with examples, to which it replies as described', async (path) => {
  const operation = described[path]?.get
  expect(operation?.summary).toBeTruthy()
  expect(operation?.tags).toHaveLength(1)
  const query = new URLSearchParams()
  for (const { name, required, example } of operation?.parameters ?? []) {
    expect(required).toBe(true)
    query.set(name, String(example))
  }
  const reply = await service.get(`${path}?${query}`)
  expect(reply.status).toBe(200)
  const [type = '', ...others] = Object.keys(operation?.responses['200']?.content ?? {})
  expect(others).toEqual([])
  expect(reply.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
  const { example } = operation!.responses['200']!.content![type]!
  const pointer = ['paths', path, 'get', 'responses', '200', 'content', type, 'schema']
  const validate = ajv.compile({
    $ref: `openapi#/${pointer.map((key) => encodeURIComponent(key.replaceAll('/', '~1'))).join('/')}`,
  })
  expect(validate(example), JSON.stringify(validate.errors)).toBe(true)
  const text = await reply.text()
  const value: unknown = type === 'text/plain' ? text : JSON.parse(text)
  expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
  // The examples of parameters match entries of the sample.
  if (query.size > 0) expect((value as { count: number }).count).toBeGreaterThan(0)
  if (query.size > 0) expect(Object.keys(operation?.responses['400']?.content ?? {})).toEqual(['application/problem+json'])
})

it('the metrics include both databases', async () => {
  const metrics = await (await service.get('/metrics')).text()
  for (const [database, entries] of [
    ['projects', 10],
    ['kcomebacks', 200],
  ]) {
    expect(metrics).toContain(`\ntickwarden_snapshot_up{database="${database}"} 1\n`)
    expect(metrics).toContain(`\ntickwarden_snapshot_entries{database="${database}"} ${entries}\n`)
    expect(metrics).toContain(`\ntickwarden_snapshot_rejected_entries{database="${database}"} 0\n`)
    // The sample is never updated, so its age would only raise an alert.
    expect(metrics).not.toContain(`tickwarden_snapshot_last_update_timestamp_seconds{database="${database}"}`)
  }
})
