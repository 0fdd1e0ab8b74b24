import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { databases } from '../../../src/data/databases/index.ts'
import { SnapshotError } from '../../../src/data/store/read-snapshot.ts'
import { openStore, type Store } from '../../../src/data/store/store.ts'
import { urlOrigin } from '../../../src/data/store/url-origin.ts'
import { type Log, silentLog } from '../../../src/util/log.ts'
import { selfSigned } from '../../helpers/certificate.ts'
import { comeback, snapshot } from '../../helpers/data-service.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { hasTool } from '../../helpers/require-tool.ts'
import { until } from '../../helpers/until.ts'

type Answer = (request: IncomingMessage, reply: ServerResponse) => void

let answer: Answer
let requested: IncomingMessage[]
let url: string
let folder: string
let stores: Store[]

const server = createServer((request, reply) => {
  requested.push(request)
  answer(request, reply)
})

beforeEach(async () => {
  requested = []
  stores = []
  folder = await mkdtemp(join(tmpdir(), 'tickwarden-url-'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data/kcomebacks.json?signature=secret`
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true })
})

const text = (title: string) => snapshot([comeback({ title })])

/** Like an object store: an ETag, and 304 for a client that has it. */
const serve =
  (body: string, etag: string): Answer =>
  (request, reply) => {
    if (request.headers['if-none-match'] === etag) reply.writeHead(304, { etag }).end()
    else reply.writeHead(200, { etag, 'content-type': 'application/json' }).end(body)
  }

async function open(log: Log = silentLog): Promise<Store> {
  const env = { DATA_DIR: folder, KCOMEBACKS_SNAPSHOT: url, DATA_REFRESH: '1s' }
  const store = await openStore({ databases, settings: loadConfig({ env }).data, clock: manualClock(), log })
  stores.push(store)
  return store
}
const statusOf = (store: Store) => store.status()[1]
const titleOf = (store: Store) => {
  const db = store.current('kcomebacks')
  const page = JSON.parse(db.page(db.all, 0, 1)) as {
    results: { title: string }[]
  }
  return page.results[0]?.title
}

const originOf = (options: { maxBytes?: number; timeoutMs?: number; distrusted?: boolean; log?: Log } = {}, at = url) =>
  urlOrigin({ database: 'kcomebacks', url: at, interval: 1000, cacheDir: folder, log: silentLog, ...options })

it('is fetched, requested again with its ETag, and loaded only if it has changed', async () => {
  answer = serve(text('a'), '"1"')
  const store = await open()
  await until(() => statusOf(store)?.state === 'ready')
  const first = store.current('kcomebacks')
  await store.refresh('kcomebacks')
  expect(requested.at(-1)?.headers['if-none-match']).toBe('"1"')
  expect(store.current('kcomebacks')).toBe(first)
  answer = serve(text('b'), '"2"')
  await store.refresh('kcomebacks')
  expect(titleOf(store)).toBe('b')
})

it.each([
  ['has no ETags', () => ({})],
  ['does not compare ETags', (body: string) => ({ etag: `"${body}"` })],
])('is loaded only if it has changed when the server %s', async (_what, headersOf) => {
  answer = (_request, reply) => reply.writeHead(200, headersOf('a')).end(text('a'))
  const lines: unknown[] = []
  const log = { ...silentLog, info: (_object: object, line?: string) => void lines.push(line) }
  const store = await open(log)
  await until(() => statusOf(store)?.state === 'ready')
  const first = store.current('kcomebacks')
  await store.refresh('kcomebacks')
  expect(store.current('kcomebacks')).toBe(first)
  // Nor after a restart, for which the copy has it.
  await store.close()
  const second = await open(log)
  await second.lastUpdate('kcomebacks')
  expect(lines.filter((line) => line === 'snapshot loaded')).toHaveLength(2)
  answer = (_request, reply) => reply.writeHead(200, headersOf('b')).end(text('b'))
  await second.refresh('kcomebacks')
  expect(titleOf(second)).toBe('b')
})

it('is loaded when it has changed, although its ETag has not', async () => {
  answer = (_request, reply) => reply.writeHead(200, { etag: '"always"' }).end(text('a'))
  const store = await open()
  await until(() => statusOf(store)?.state === 'ready')
  answer = (_request, reply) => reply.writeHead(200, { etag: '"always"' }).end(text('b'))
  await store.refresh('kcomebacks')
  expect(titleOf(store)).toBe('b')
})

it('is shown by host and last segment, because the path may be secret', async () => {
  answer = serve(text('a'), '"1"')
  const store = await open()
  await until(() => statusOf(store)?.state === 'ready')
  expect(statusOf(store)).toMatchObject({ kind: 'url', source: `${new URL(url).host}/.../kcomebacks.json` })
  expect(requested[0]?.url).toBe('/data/kcomebacks.json?signature=secret')
})

it.each([
  ['user:p%40ss', 'user:p@ss'],
  ['user:p@ss', 'user:p@ss'],
  ['user:100%25', 'user:100%'],
  ['user:€ü', 'user:€ü'],
  ['user', 'user:'],
  [':token', ':token'],
])('sends %s of the URL as a header, and never shows it', async (given, pair) => {
  answer = (_request, reply) => reply.writeHead(401).end()
  url = url.replace('http://', `http://${given}@`)
  const messages: unknown[] = []
  const print = (...line: readonly unknown[]) => void messages.push(line)
  const store = await open({ debug: print, info: print, warn: print, error: print })
  await store.lastUpdate('kcomebacks')
  expect(requested[0]?.headers.authorization).toBe(`Basic ${Buffer.from(pair).toString('base64')}`)
  expect(statusOf(store)).toMatchObject({ state: 'failed', error: 'the server answered 401' })
  expect(statusOf(store)?.source).toMatch(/^127\.0\.0\.1:\d+\/\.\.\.\/kcomebacks\.json$/)
  // The log has the path.
  expect(JSON.stringify(messages)).toMatch(/http:\/\/127\.0\.0\.1:\d+\/data\/kcomebacks\.json.*snapshot not loaded/)
  expect(JSON.stringify(messages)).not.toMatch(/@|%|€|token/)
})

it('keeps the last valid copy for a start without the server', async () => {
  answer = serve(text('a'), '"1"')
  const store = await open()
  await until(() => statusOf(store)?.state === 'ready')
  answer = serve('broken', '"2"')
  await store.refresh('kcomebacks')
  expect(statusOf(store)).toMatchObject({ state: 'failed', error: 'it is not valid JSON, or truncated', entries: 1 })
  await store.close()

  answer = (_request, reply) => reply.writeHead(503).end()
  const second = await open()
  expect(titleOf(second)).toBe('a')
  await second.refresh('kcomebacks')
  expect(statusOf(second)).toMatchObject({ state: 'failed', error: 'the server answered 503' })
  expect(titleOf(second)).toBe('a')
  // The copy has its ETag with it.
  answer = serve(text('a'), '"1"')
  await second.refresh('kcomebacks')
  expect(requested.at(-1)?.headers['if-none-match']).toBe('"1"')
  expect(statusOf(second)).toMatchObject({ state: 'ready' })
})

it('does not treat a previous text as broken because of a newer one', async () => {
  answer = serve(text('a'), '"1"')
  const store = await open()
  await until(() => statusOf(store)?.state === 'ready')
  answer = serve('broken', '"2"')
  await store.refresh('kcomebacks')
  await store.refresh('kcomebacks')
  expect(requested.at(-1)?.headers['if-none-match']).toBe('"2"')
  expect(statusOf(store)).toMatchObject({ state: 'failed', error: 'it is not valid JSON, or truncated' })
})

it('is not treated as unchanged if no copy was named', async () => {
  answer = (_request, reply) => reply.writeHead(304).end()
  const store = await open()
  await store.refresh('kcomebacks')
  expect(statusOf(store)).toMatchObject({ state: 'failed', error: 'the server answered 304' })
})

it('ignores a broken copy on disk', async () => {
  answer = serve(text('a'), '"1"')
  const store = await open()
  await until(() => statusOf(store)?.state === 'ready')
  await store.close()
  const [name = ''] = await readdir(folder)
  expect((await readFile(join(folder, name), 'utf8')).split('\n')[0]).toBe('{"etag":"\\"1\\""}')
  await rm(join(folder, name))
  await writeFile(join(folder, name), '{"etag":"\\"1\\""}\n[tr')
  const second = await open()
  await until(() => statusOf(second)?.state === 'ready')
  expect(titleOf(second)).toBe('a')
})

it('keeps its copy in a DATA_DIR of another user, such as a mounted volume', async () => {
  const me = process.getuid?.() ?? 0
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(me + 1)
  try {
    answer = serve(text('a'), '"1"')
    const store = await open()
    await until(() => statusOf(store)?.state === 'ready')
    await store.close()
    answer = (_request, reply) => reply.writeHead(503).end()
    expect(titleOf(await open())).toBe('a')
  } finally {
    getuid.mockRestore()
  }
})

it('neither reads nor writes a copy in a folder of another user, and reports where and why', async () => {
  const messages: unknown[] = []
  const warn = (...line: readonly unknown[]) => void messages.push(line)
  answer = serve(text('a'), '"1"')
  const own = originOf({ distrusted: true })
  await own.keep?.((await own.read())!)
  await own.close?.()
  const me = process.getuid?.() ?? 0
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(me + 1)
  try {
    const others = originOf({ distrusted: true, log: { ...silentLog, warn } })
    expect(await others.restore?.()).toBeUndefined()
    await others.keep?.((await others.read())!)
    await others.close?.()
  } finally {
    getuid.mockRestore()
  }
  expect(messages).toEqual([
    [{ database: 'kcomebacks', folder, reason: 'it belongs to another user' }, expect.stringContaining('Set DATA_DIR')],
  ])
})

it.skipIf(!hasTool('openssl'))('reports the setting for a certificate that is not trusted', async () => {
  const { key, cert, folder: certificates } = selfSigned()
  const tls = createTlsServer({ key, cert }, (_request, reply) => reply.end(text('a')))
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve))
  const origin = originOf({}, `https://127.0.0.1:${(tls.address() as AddressInfo).port}/kcomebacks.json`)
  await expect(origin.read()).rejects.toThrow(/certificate of its server is not trusted \(.+\); start with NODE_EXTRA_CA_CERTS=/)
  await origin.close?.()
  tls.close()
  await rm(certificates, { recursive: true })
})

it('may be compressed, and is limited in its uncompressed size', async () => {
  const body = text('a'.repeat(100_000))
  answer = (_request, reply) => reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body))
  const origin = originOf({ maxBytes: body.length })
  expect((await origin.read())?.text).toBe(body)
  await origin.close?.()
  const bounded = originOf({ maxBytes: body.length - 1 })
  await expect(bounded.read()).rejects.toThrow(new SnapshotError(`it has more than ${body.length - 1} bytes`))
  await bounded.close?.()
})

it.each<[string, Answer, RegExp]>([
  ['hangs', () => {}, /^no complete reply within 300 ms$/],
  ['hangs in the body', (_request, reply) => reply.writeHead(200).write('['), /^no complete reply within 300 ms$/],
  [
    'is cut off',
    (_request, reply) => reply.writeHead(200, { 'content-length': '10' }).write('[', () => reply.destroy()),
    /^it cannot be fetched/,
  ],
  [
    'redirects',
    (_request, reply) => reply.writeHead(302, { location: '/other' }).end(),
    /^it cannot be fetched \(unexpected redirect\)$/,
  ],
  ['has nothing', (_request, reply) => reply.writeHead(404).end('no'), /^the server answered 404$/],
])('fails with the reason when the server %s', async (what, how, reason) => {
  answer = how
  const origin = originOf(what.startsWith('hangs') ? { timeoutMs: 300 } : {})
  await expect(origin.read()).rejects.toThrow(reason)
  await origin.close?.()
})

it('can be closed while it is being fetched', async () => {
  answer = () => {}
  const store = await open()
  await until(() => requested.length === 1)
  await store.close()
  expect(statusOf(store)?.state).toBe('loading')
})
