import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { exampleServer, silentServer } from '../../helpers/example-server.ts'
import { buildTestApp } from '../../helpers/test-app.ts'

interface Operation {
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly responses: Record<string, { description?: string; content?: Record<string, { schema: object }> }>
}
interface OpenApi {
  readonly openapi: string
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Record<string, { get?: Operation }>
}

const scripts = { Server: exampleServer, silent: silentServer, down: {} }

describe('/openapi.json', () => {
  it('is OpenAPI 3.1 and describes every route', async () => {
    const { get } = await buildTestApp({ scripts })
    const document = (await (await get('/openapi.json')).json()) as OpenApi
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/api/v1'))).toHaveLength(54)
    const used = new Set<string>()
    for (const [path, { get: operation }] of Object.entries(document.paths)) {
      expect(operation?.summary, path).toBeTruthy()
      expect(operation?.tags, path).toHaveLength(1)
      used.add(operation?.tags?.[0] ?? '')
    }
    for (const { name, description } of document.tags) expect(description, name).toBeTruthy()
    expect([...used].sort()).toEqual(document.tags.map(({ name }) => name).sort())
  })

  it('describes every error as problem details', async () => {
    const { get } = await buildTestApp({ scripts })
    const document = (await (await get('/openapi.json')).json()) as OpenApi
    const withErrors = Object.entries(document.paths).flatMap(([path, { get: operation }]) =>
      Object.entries(operation?.responses ?? {})
        .filter(([status]) => Number(status) >= 400)
        .map(([status, { description, content }]) => ({ path, status, description, types: Object.keys(content ?? {}) })),
    )
    expect(withErrors.length).toBeGreaterThan(30)
    // A script that is started too soon or is not configured has its own error message.
    const others = withErrors.filter(({ path, status }) => !path.startsWith('/v1/run/') || ['401', '403'].includes(status))
    for (const { path, status, description, types } of others) {
      expect(types, `${path} ${status}`).toEqual(['application/problem+json'])
      expect(description, `${path} ${status}`).not.toBe('Default Response')
    }
  })

  it('describes the error of each protected route', async () => {
    const { get } = await buildTestApp({ scripts, env: { METRICS_TOKEN: 'let-me-in', HOST: '0.0.0.0' } })
    const document = (await (await get('/openapi.json')).json()) as OpenApi
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(document, 'openapi')
    const validate = ajv.compile({ $ref: 'openapi#/components/schemas/Problem' })
    for (const [path, status, headers] of [
      ['/metrics', 401, {}],
      ['/sd', 401, {}],
      ['/probe', 401, {}],
      ['/probe', 400, { authorization: 'Bearer let-me-in' }],
      ['/probe?target=mc.example.org', 403, { authorization: 'Bearer let-me-in' }],
      ['/v1/run', 403, {}],
      ['/v1/run/projects', 403, {}],
    ] as const) {
      const reply = await get(path, headers)
      expect([path, reply.status]).toEqual([path, status])
      const type = reply.headers.get('content-type')?.split(';')[0] ?? ''
      const described = document.paths[path.split('?')[0] ?? '']?.get?.responses[status]?.content
      expect(Object.keys(described ?? {}), path).toEqual([type])
      expect(validate(await reply.json()), `${path}: ${JSON.stringify(validate.errors)}`).toBe(true)
    }
  })

  it('describes the replies of servers that are up, silent, down and not watched', async () => {
    const { get } = await buildTestApp({ scripts })
    const document = (await (await get('/openapi.json')).json()) as OpenApi
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(document, 'openapi')
    const pointer = (keys: readonly string[]) =>
      keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
    // An event stream does not end.
    const ending = (path: string) => !Object.hasOwn(document.paths[path]?.get?.responses[200]?.content ?? {}, 'text/event-stream')
    const paths = Object.keys(document.paths).filter((path) => path.startsWith('/api/v1') && ending(path))
    for (const name of ['Server', 'silent', 'down', 'nobody']) {
      for (const path of paths.filter((path) => name === 'Server' || path.includes('{name}'))) {
        const reply = await get(path.replace('{name}', name), { accept: 'application/json' })
        const type = reply.headers.get('content-type')?.split(';')[0] ?? ''
        const described = document.paths[path]?.get?.responses[reply.status]?.content?.[type]
        expect(described, `${path} ${reply.status} ${type}`).toBeDefined()
        if (!type.endsWith('json')) continue
        const place = pointer(['paths', path, 'get', 'responses', String(reply.status), 'content', type, 'schema'])
        const validate = ajv.compile({ $ref: `openapi#/${place}` })
        expect(validate(await reply.json()), `${path} of ${name}: ${JSON.stringify(validate.errors)}`).toBe(true)
      }
    }
  })
})

describe('/docs', () => {
  it.each([['/docs/json', '/openapi.json']])('%s redirects to %s', async (path, target) => {
    const { url, get } = await buildTestApp({ scripts })
    const reply = await fetch(url + path, { redirect: 'manual' })
    expect([reply.status, reply.headers.get('location')]).toEqual([302, target])
    const reached = await get(path)
    expect([reached.status, new URL(reached.url).pathname]).toEqual([200, target])
    expect((await fetch(url + path, { method: 'HEAD', redirect: 'manual' })).status).toBe(302)
    expect((await fetch(url + path, { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD')
  })

  it('is loaded once by clients that cache it, and has no other paths', async () => {
    const { url, get } = await buildTestApp({ scripts })
    const etag = (await get('/docs/static/swagger-ui.css')).headers.get('etag') ?? ''
    const again = await get('/docs/static/swagger-ui.css', { 'if-none-match': etag })
    expect([again.status, await again.text()]).toEqual([304, ''])
    // After an upgrade, a page that is cached would load files that no longer exist.
    expect((await get('/docs')).headers.get('cache-control')).toBe('no-cache')
    for (const range of ['bytes=0-3', 'bytes=999999999-'])
      expect((await get('/docs/static/swagger-ui.css', { range })).status).toBe(200)
    for (const path of ['/docs/nothing', '/docs/static/nothing.js', '/docs/static/..%2F..%2Fpackage.json']) {
      const reply = await fetch(url + path)
      expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8'])
      expect(await reply.json()).toMatchObject({ code: 'NOT_FOUND', instance: path })
    }
  })

  it('can be read over plain HTTP', async () => {
    const { get } = await buildTestApp({ scripts })
    const policy = (await get('/docs')).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'self'")
    expect(policy).not.toContain('upgrade-insecure-requests')
  })

  it('is a page that loads only resources of the service', async () => {
    const { get } = await buildTestApp({ scripts })
    const page = await get('/docs')
    expect(page.status).toBe(200)
    const parts = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => part ?? '')
    expect(parts.length).toBeGreaterThan(3)
    for (const part of parts) {
      expect(part).not.toMatch(/^(https?:)?\/\//)
      expect((await get(new URL(part, page.url).pathname)).status, part).toBe(200)
    }
  })
})
