import { METHODS } from 'node:http'
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
      '/v1/debug/headers',
      '/openapi.json',
      '/docs/static/index.html',
      '/metrics',
      '/',
    ]) {
      const { statusCode, headers, body } = await request(url + path, { method: method as 'POST' })
      expect(statusCode).toBe(405)
      expect(headers.allow).toBe('GET, HEAD')
      expect(headers['access-control-allow-origin']).toBe(path.startsWith('/api/v1/') ? '*' : undefined)
      expect(await body.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED', status: 405, instance: path })
    }
  })

  it('every method that Node.js parses is 405, even with the headers of a preflight request', async () => {
    const { url } = await buildTestApp({ scripts })
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
    // Node.js closes the connection of CONNECT.
    for (const method of METHODS.filter((name) => !['GET', 'HEAD', 'OPTIONS', 'CONNECT'].includes(name))) {
      const { statusCode, body } = await request(`${url}/api/v1/getall`, { method: method as 'POST', headers })
      const { detail } = (await body.json()) as { readonly detail: string }
      expect([statusCode, detail]).toEqual([405, `${method} is not possible on /api/v1/getall; use GET or HEAD.`])
    }
  })

  it.each(['application/json', 'text/weird', 'multipart/form-data'])('does not read a body of %s', async (type) => {
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

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])('%s of an unknown path is 404, whatever its body', async (method) => {
    const { url } = await buildTestApp({ scripts })
    const bodies = [
      ['application/json', '{ broken'],
      ['application/json', ''],
      ['text/weird', 'x'],
      ['', 'x'],
      ['multipart/form-data', 'x'.repeat(2_000_000)],
    ] as const
    for (const [type, content] of bodies) {
      const { statusCode, headers, body } = await request(`${url}/nothing`, {
        method: method as 'POST',
        body: content,
        headers: type === '' ? {} : { 'content-type': type },
      })
      expect([statusCode, headers['content-type']]).toEqual([404, 'application/problem+json; charset=utf-8'])
      expect(await body.json()).toMatchObject({ code: 'NOT_FOUND' })
    }
  })

  it('answers a preflight request', async () => {
    const { url } = await buildTestApp({ scripts })
    const preflight = (path: string) =>
      fetch(url + path, { method: 'OPTIONS', headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' } })
    const reply = await preflight('/api/v1/getall')
    expect(reply.status).toBe(204)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-max-age': '86400',
    })
    // A page that reads the events with fetch(), to send a token or to reconnect itself, asks for this one.
    const events = await preflight('/api/v1/events')
    expect(events.headers.get('access-control-allow-headers')?.split(', ')).toContain('Last-Event-ID')
    const refused = await preflight('/v1/debug/headers')
    expect(refused.status).toBe(405)
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
  })
})
