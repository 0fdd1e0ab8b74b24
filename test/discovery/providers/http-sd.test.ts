import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { startDiscovering } from '../../helpers/discovering-service.ts'

async function listen(answer: RequestListener) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const json = { 'content-type': 'application/json' }
const groups = (...names: readonly string[]) =>
  JSON.stringify(names.map((name) => ({ targets: ['127.0.0.1:1'], labels: { name } })))
const yaml = 'servers: [{ name: own, address: "127.0.0.1:1" }]'
/** Requests the URLs only once and on reload: a short interval also limits the time of a request, which a busy machine may exceed. */
const start = (urls: string, env: Readonly<Record<string, string>> = {}) =>
  startDiscovering({ yaml, env: { DISCOVERY_HTTP_SD: urls, DISCOVERY_HTTP_SD_INTERVAL: '1h', ...env } })
const oftenRequested = { DISCOVERY_HTTP_SD_INTERVAL: '1s' }

it('requests the URL as Prometheus does, again after each interval, and follows the reply', async () => {
  let [names, mark] = [['a', 'b'], '']
  const { host, requests } = await listen((_request, response) => void response.writeHead(200, json).end(mark + groups(...names)))
  const service = await start(`http://watcher:secret@${host}/targets?x=hidden`, oftenRequested)
  await expect.poll(service.names).toEqual(['own', 'a', 'b'])
  expect(requests[0]!.headers).toMatchObject({
    accept: 'application/json',
    'x-prometheus-refresh-interval-seconds': '1',
    authorization: `Basic ${Buffer.from('watcher:secret').toString('base64')}`,
  })
  expect(requests[0]!.url).toBe('/targets?x=hidden')
  names = ['b', 'c']
  await expect.poll(service.names).toEqual(['own', 'b', 'c'])
  // A byte order mark, as a file that a program of Windows has written may have.
  ;[names, mark] = [['b', 'd'], '\ufeff']
  await expect.poll(service.names).toEqual(['own', 'b', 'd'])
  names = []
  await expect.poll(service.names).toEqual(['own'])
  const list = async () => (await service.lists())[1]
  await expect.poll(list).toMatchObject({ provider: 'http_sd', list: `${host}/targets`, state: 'ok', servers: 0 })
  expect(JSON.stringify([await list(), service.log])).not.toMatch(/secret|hidden/)
})

it('reports a failure once, also if another URL differs in its query only', async () => {
  const { host, requests } = await listen((request, response) => {
    response.writeHead(request.url?.endsWith('secret-b') ? 500 : 200, json).end(groups('a'))
  })
  const service = await start(`http://${host}/targets?of=secret-a,http://${host}/targets?of=secret-b`, oftenRequested)
  await expect.poll(() => requests.length).toBeGreaterThan(5)
  await expect
    .poll(async () => (await service.lists()).slice(1).map(({ list, state }) => [list, state]))
    .toEqual([
      [`${host}/targets (URL 1)`, 'ok'],
      [`${host}/targets (URL 2)`, 'failed'],
    ])
  const lines = service.log.filter((line) => line.includes(`${host}/targets (URL 2)`))
  expect(lines).toContain(
    `warn: http://${host}/targets (URL 2): the server returned status 500; expected 200; its servers are unknown`,
  )
  // On a busy machine, a request may have taken too long in between, which is another failure.
  expect(lines.filter((line, index) => line === lines[index - 1])).toEqual([])
  expect(service.log.join()).not.toContain('(URL 1): the server returned')
})

it('keeps the last list while the URL fails, and reports why', async () => {
  let answer: RequestListener = (_request, response) => void response.writeHead(200, json).end(groups('a'))
  const { host } = await listen((request, response) => answer(request, response))
  const service = await start(`http://${host}/targets`, oftenRequested)
  await expect.poll(service.names).toEqual(['own', 'a'])
  const failures: readonly (readonly [string, RequestListener])[] = [
    ['the server returned status 500; expected 200', (_, response) => void response.writeHead(500, json).end('[]')],
    [
      'the reply has the type "text/html"; expected application/json',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('[]'),
    ],
    ['it is not valid JSON', (_, response) => void response.writeHead(200, json).end('[')],
    ['it cannot be fetched (the connection was closed)', (request) => request.socket.destroy()],
    ['no complete reply within 1000 ms', () => {}],
    ['it redirects more than 5 times', (_, response) => void response.writeHead(302, { location: '/again' }).end()],
    ['it redirects to an invalid URL', (_, response) => void response.writeHead(302, { location: 'http://[' }).end()],
  ]
  for (const [problem, failing] of failures) {
    answer = failing
    void service.reload()
    await expect.poll(async () => (await service.lists())[1]?.problems).toEqual([problem])
    expect(await service.names()).toEqual(['own', 'a'])
  }
  expect((await service.lists())[1]).toMatchObject({ state: 'failed', servers: 1 })
  expect(await (await service.get('/metrics')).text()).toContain('tickwarden_discovery_up{provider="http_sd"} 0\n')
  answer = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(groups('b'))
  void service.reload()
  await expect.poll(service.names).toEqual(['own', 'b'])
})

it('sends the token to the origin of the URL only, regardless of redirects', async () => {
  const other = await listen((_request, response) => void response.writeHead(200, json).end(groups('stolen')))
  const first = await listen((request, response) => {
    if (request.url === '/moved') response.writeHead(200, json).end(groups('moved'))
    else response.writeHead(307, { location: request.url === '/near' ? '/moved' : `http://${other.host}/far` }).end()
  })
  const service = await start(`http://${first.host}/near,http://${first.host}/far`, { DISCOVERY_HTTP_SD_TOKEN: 'let-me-in' })
  expect(await service.names()).toEqual(['own', 'moved'])
  expect(first.requests.map(({ headers }) => headers.authorization)).toEqual(first.requests.map(() => 'Bearer let-me-in'))
  expect(other.requests).toEqual([])
  expect((await service.lists())[2]).toMatchObject({
    servers: null,
    problems: [`it redirects to http://${other.host}, another origin; set the URL there if you trust it`],
  })
})

it('follows no redirect to another origin, with or without credentials', async () => {
  const other = await listen((_request, response) => void response.writeHead(200, json).end(groups('elsewhere')))
  const target = (path: string) => (path === '/scheme' ? `https://${host}/` : `http://${other.host}/`)
  const { host } = await listen(({ url = '' }, response) => void response.writeHead(301, { location: target(url) }).end())
  const service = await start(`http://${host}/,http://${host}/scheme`)
  expect(await service.names()).toEqual(['own'])
  expect(other.requests).toEqual([])
  expect((await service.lists()).slice(1).map(({ problems }) => problems)).toEqual([
    [`it redirects to http://${other.host}, another origin; set the URL there if you trust it`],
    [`it redirects to https://${host}, another origin; set the URL there if you trust it`],
  ])
})

it('refuses an endless body', async () => {
  const piece = Buffer.alloc(1024 * 1024, ' ')
  const { host } = await listen((_request, response) => {
    response.writeHead(200, json)
    const write = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on('drain', write)
    write()
  })
  const service = await start(`http://${host}/`)
  await expect.poll(async () => (await service.lists())[1]?.problems).toEqual(['the reply has more than 33554432 bytes'])
})

it('starts without the URL, and is not ready until it has answered', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { host } = await listen((_request, response) => void held.then(() => response.writeHead(200, json).end(groups('late'))))
  const service = await start(`http://${host}/`)
  expect(await service.names()).toEqual(['own'])
  expect((await service.lists())[1]).toMatchObject({ state: 'pending', servers: null })
  const ready = await service.get('/readyz')
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining(`the servers of http_sd (${host}/)`)])
  expect(await (await service.get('/metrics')).text()).not.toContain('tickwarden_discovery_up{provider="http_sd"}')
  release()
  await expect.poll(service.names).toEqual(['own', 'late'])
  await expect.poll(async () => (await service.get('/readyz')).status).toBe(200)
})
