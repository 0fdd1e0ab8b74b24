import { request } from 'undici'
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../helpers/test-app.ts'

const scripts = { Server: { status: {} } }

describe('methods', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE'])('%s is 405 on a known path', async (method) => {
    const { url } = await buildTestApp({ scripts })
    for (const path of [
      '/api/v1/getall',
      '/api/v1/getall/',
      '/api/v1/servers/a%20b/ticks',
      '/api/v1/%67etall',
      '/openapi.json',
    ]) {
      const { statusCode, headers, body } = await request(url + path, { method: method as 'POST' })
      expect(statusCode).toBe(405)
      expect(headers.allow).toBe('GET, HEAD')
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(await body.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED', status: 405, instance: path })
    }
  })

  it.each(['application/json', 'text/weird', 'multipart/form-data'])('does not look at a body of %s', async (type) => {
    const { url } = await buildTestApp({ scripts })
    const reply = await fetch(`${url}/api/v1/getall`, { method: 'POST', body: '{ broken', headers: { 'content-type': type } })
    expect(reply.status).toBe(405)
  })

  it.each([
    ['GET', '/api/v1/GetAll'],
    ['POST', '/api/v1/nothing'],
    ['HEAD', '/nothing'],
    ['POST', '/api/v1/getall/more'],
    ['POST', '/api/v1%2Fgetall'],
  ])('%s %s is 404', async (method, path) => {
    const { url } = await buildTestApp({ scripts })
    expect((await fetch(url + path, { method })).status).toBe(404)
  })

  it('answers a preflight request', async () => {
    const { url } = await buildTestApp({ scripts })
    const ask = (path: string) =>
      fetch(url + path, { method: 'OPTIONS', headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' } })
    const reply = await ask('/api/v1/getall')
    expect(reply.status).toBe(204)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-max-age': '86400',
    })
    const refused = await ask('/v1/debug/headers')
    expect(refused.status).toBe(405)
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
  })
})
