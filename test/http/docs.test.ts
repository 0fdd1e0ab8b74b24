import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { exampleServer, silentServer } from '../helpers/example-server.ts'
import { buildTestApp } from '../helpers/test-app.ts'

interface Operation {
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
}
interface OpenApi {
  readonly openapi: string
  readonly paths: Record<string, { get?: Operation }>
}

const scripts = { Server: exampleServer, silent: silentServer, down: {} }

describe('/openapi.json', () => {
  it('is OpenAPI 3.1 and describes every route', async () => {
    const { get } = await buildTestApp({ scripts })
    const document = (await (await get('/openapi.json')).json()) as OpenApi
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/api/v1'))).toHaveLength(35)
    for (const [path, { get: operation }] of Object.entries(document.paths)) {
      expect(operation?.summary, path).toBeTruthy()
      expect(operation?.tags, path).toHaveLength(1)
    }
  })

  it.each(['Server', 'silent', 'down', 'nobody'])('describes the replies of %s', async (name) => {
    const { get } = await buildTestApp({ scripts })
    const document = (await (await get('/openapi.json')).json()) as OpenApi
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(document, 'openapi')
    const pointer = (keys: readonly string[]) =>
      keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
    for (const path of Object.keys(document.paths).filter((path) => path.startsWith('/api/v1'))) {
      const reply = await get(path.replace('{name}', name), { accept: 'application/json' })
      const type = reply.headers.get('content-type')?.split(';')[0] ?? ''
      const described = document.paths[path]?.get?.responses[reply.status]?.content?.[type]
      expect(described, `${path} ${reply.status} ${type}`).toBeDefined()
      const place = pointer(['paths', path, 'get', 'responses', String(reply.status), 'content', type, 'schema'])
      const validate = ajv.compile({ $ref: `openapi#/${place}` })
      expect(validate(await reply.json()), `${path}: ${JSON.stringify(validate.errors)}`).toBe(true)
    }
  })
})

describe('/docs', () => {
  it.each([
    ['/', '/docs'],
    ['/docs/json', '/openapi.json'],
  ])('%s leads to %s', async (path, target) => {
    const { url, get } = await buildTestApp({ scripts })
    const reply = await fetch(url + path, { redirect: 'manual' })
    expect([reply.status, reply.headers.get('location')]).toEqual([302, target])
    const reached = await get(path)
    expect([reached.status, new URL(reached.url).pathname]).toEqual([200, target])
    expect((await fetch(url + path, { method: 'HEAD', redirect: 'manual' })).status).toBe(302)
    expect((await fetch(url + path, { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD')
  })

  it('may be read over plain HTTP', async () => {
    const { get } = await buildTestApp({ scripts })
    const policy = (await get('/docs')).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'self'")
    expect(policy).not.toContain('upgrade-insecure-requests')
  })

  it('is a page whose parts all come from here', async () => {
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
