import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nameSchemas, operationId } from '../../../src/http/openapi/openapi.ts'
import { callsOf, readDocument, startServices, urlOf } from '../../helpers/openapi-replies.ts'
import { ensurePythonPeers } from '../../helpers/python-peers.ts'

const root = resolve(import.meta.dirname, '..', '..', '..')
const tool = (name: string) => join(root, 'test', 'tools', 'node_modules', '.bin', name)
const run = promisify(execFile)

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-openapi-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

describe('the API description', () => {
  it('names and describes every operation, with a valid example of each reply', async () => {
    const document = await readDocument()
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(document, 'openapi')
    const ids = Object.values(document.paths).map(({ get }) => get.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const [path, { get }] of Object.entries(document.paths)) {
      expect(get.description, path).toMatch(/\.$/)
      for (const { name, example, schema } of get.parameters ?? []) {
        expect(ajv.validate(schema, example), `${path} ${name}`).toBe(true)
      }
      for (const [status, { content = {}, headers = {} }] of Object.entries(get.responses)) {
        if (status === '304') expect(headers, path).toHaveProperty('ETag')
        else expect(Object.keys(content), `${path} ${status}`).not.toEqual([])
        if (status === '429' || status === '503') expect(Object.keys(headers).join() + path).toMatch(/Retry-After|^\/v1\/run/)
        for (const [type, { example }] of Object.entries(content)) {
          const pointer = ['paths', path, 'get', 'responses', status, 'content', type, 'schema']
          const $ref = `openapi#/${pointer.map((key) => encodeURIComponent(key.replaceAll('/', '~1'))).join('/')}`
          expect(example, `${path} ${status} ${type}`).toBeDefined()
          expect(ajv.validate({ $ref }, example), `${path} ${status} ${type}`).toBe(true)
        }
      }
    }
    expect(document.servers).not.toEqual([])
    expect(Object.keys(document.components.securitySchemes)).toEqual(['metricsToken', 'runToken'])
    for (const path of ['/metrics', '/probe', '/sd', '/v1/run', '/v1/run/synclikedsongs']) {
      expect(document.paths[path]?.get.security, path).toHaveLength(2)
    }
    const run = document.paths['/v1/run/projects']!.get.responses
    expect(run['429']!.content!['application/json']!.example).toEqual({ status: 'ran 12 s ago, try again in 48 s' })
    const page = document.paths['/v1/kcomebacks/filter/artist']!.get
    expect(Object.keys(page.responses['200']!.headers!)).toEqual(['ETag', 'Last-Modified', 'X-Total-Count', 'Link'])
    expect(page.parameters!.find(({ name }) => name === 'artist')!.schema).toMatchObject({ minLength: 1, maxLength: 200 })
  })

  it('describes each type once, by name', async () => {
    const document = await readDocument()
    expect(Object.keys(document.components.schemas)).toContain('PageOfComebacks')
    for (const [path, { get }] of Object.entries(document.paths)) {
      const media = Object.values(get.responses).flatMap(({ content = {} }) => Object.values(content))
      for (const { schema } of media) expect(schema, path).not.toHaveProperty('properties')
    }
    expect(() => nameSchemas({ a: { title: 'Two words', type: 'string' }, b: { title: 'two words', type: 'null' } })).toThrow()
    expect(operationId('/api/v1/servers/:name/getall')).toBe('getServersGetallByName')
  })

  it('passes the linter', async () => {
    const document = await readDocument()
    const file = join(await temporaryFolder(), 'openapi.json')
    await writeFile(file, JSON.stringify(document))
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { stdout } = await run(tool('redocly'), ['lint', '--extends=recommended', '--format=json', file], { env })
    const { totals, problems } = JSON.parse(stdout.slice(stdout.indexOf('{')))
    expect(problems).toEqual([])
    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
  })
})

describe('a generated client', () => {
  it('of openapi-typescript has a type for every reply', async () => {
    const services = await startServices()
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(services.document))
    await run(tool('openapi-typescript'), [join(folder, 'openapi.json'), '-o', join(folder, 'api.d.ts')])
    const lines = new Set<string>()
    const statuses = new Set<number>()
    for (const call of callsOf(services)) {
      const { statusCode, headers, body } = await request(urlOf(call), { headers: call.headers })
      const type = String(headers['content-type']).split(';')[0] ?? ''
      const text = await body.text()
      const value = type.endsWith('json') ? text : JSON.stringify(text)
      const keys = [call.path, 'get', 'responses', statusCode, 'content', type].map((key) => `[${JSON.stringify(key)}]`)
      lines.add(`export const r${lines.size}: paths${keys.join('')} = ${value}\n`)
      statuses.add(statusCode)
    }
    expect([...statuses].sort()).toEqual([200, 400, 401, 403, 404, 429, 503])
    await writeFile(join(folder, 'replies.ts'), `import type { paths } from './api.d.ts'\n${[...lines].join('')}`)
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--ignoreConfig']
    const result = await run(join(root, 'node_modules', '.bin', 'tsc'), [...options, join(folder, 'replies.ts')]).catch(
      ({ stdout }: { stdout: string }) => ({ stdout }),
    )
    expect(result.stdout).toBe('')
  })

  it('of openapi-python-client decodes every reply', async ({ skip }) => {
    const folder = await temporaryFolder()
    const peers = await ensurePythonPeers()
    if ('reason' in peers) return skip(peers.reason)
    const { python } = peers
    const services = await startServices()
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(services.document))
    const target = join(folder, 'client_under_test')
    const config = join(folder, 'config.yaml')
    // Without this the generator treats pictures and feeds as JSON.
    const overrides = { 'image/png': 'application/octet-stream', 'image/svg+xml': 'application/octet-stream' }
    // Nor does anyone read the client: it is not formatted.
    await writeFile(
      config,
      JSON.stringify({ post_hooks: [], content_type_overrides: { ...overrides, 'application/atom+xml': 'text/plain' } }),
    )
    const options = ['--path', join(folder, 'openapi.json'), '--output-path', target, '--meta', 'none', '--config', config]
    const { stdout: warnings } = await run(python, ['-m', 'openapi_python_client', 'generate', ...options])
    expect(warnings).not.toMatch(/unsupported|unable|cannot/i)
    const calls = callsOf(services).filter(({ headers }) => headers.accept === undefined)
    const input = calls.map((call) => {
      const { operationId } = services.document.paths[call.path]!.get
      return { ...call, operation: operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) }
    })
    const child = run(python, [join(root, 'test', 'helpers', 'openapi-client.py'), folder], { maxBuffer: 2 ** 26 })
    child.child.stdin?.end(JSON.stringify(input))
    const replies = JSON.parse((await child).stdout) as { status: number; type: string; value: unknown }[]
    for (const [index, { status, type, value }] of replies.entries()) {
      const call = calls[index]!
      const { statusCode, headers, body } = await request(urlOf(call), { headers: call.headers })
      const text = await body.text()
      expect([status, call.path]).toEqual([statusCode, call.path])
      expect(type, call.path).not.toBe('NoneType')
      if (headers['content-type']?.includes('problem+json')) expect([type, value]).toEqual(['Problem', JSON.parse(text)])
    }
    expect(new Set(replies.map(({ type }) => type))).toContain('PageOfComebacks')
    const runs = replies.filter((_, index) => calls[index]!.path.startsWith('/v1/run/'))
    const found = runs.filter(({ type }) => type === 'ScriptStatus').map(({ status, value }) => [status, value])
    expect(found).toContainEqual([200, { status: 'udating...' }])
    expect(found).toContainEqual([429, { status: expect.stringMatching(/^ran \d+ s ago/) }])
    expect(replies).toHaveLength(calls.length)
  }, 300_000)
})
