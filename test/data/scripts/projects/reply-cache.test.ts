import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openReplyCache } from '../../../../src/data/scripts/projects/reply-cache.ts'

const origin = 'https://api.example.org'
const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ etag: `"${name}"`, body: { name } })) as [Reply, Reply, Reply]
type Reply = Parameters<Awaited<ReturnType<typeof openReplyCache>>['set']>[1]

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tickwarden-replies-'))
  file = join(folder, 'cache.json')
})
afterEach(() => rm(folder, { recursive: true }))

const open = (isFull = false) => openReplyCache(file, origin, isFull)
const store = (content: unknown) => writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
const stored = async () => JSON.parse(await readFile(file, 'utf8')) as unknown
const neither = () => false

it('has the replies of the previous run', async () => {
  await store({ origin, replies: { '/a': a, '/b': { ...b, body: null } } })
  const cache = await open()
  expect([cache.get('/a'), cache.get('/b'), cache.get('/c')]).toEqual([a, { ...b, body: null }, undefined])
})

it('has none of them for a full run, which keeps those that it cannot read', async () => {
  await store({ origin, replies: { '/a': a, '/b': b } })
  const cache = await open(true)
  expect(cache.get('/a')).toBeUndefined()
  await cache.save((path) => path === '/b')
  expect(await stored()).toEqual({ origin, replies: { '/b': b } })
})

it('keeps the replies of this run, and the previous ones of what could not be read', async () => {
  await store({ origin, replies: { '/a': a, '/b': b, '/c': c } })
  const cache = await open()
  cache.set('/a', c)
  expect(cache.get('/a')).toEqual(a)
  cache.set('/new', b)
  await cache.save((path) => path === '/a' || path === '/b')
  expect(await stored()).toEqual({ origin, replies: { '/a': c, '/b': b, '/new': b } })
  expect((await open()).get('/a')).toEqual(c)
})

it.each([
  ['of another API', { origin: 'https://other.example.org', replies: { '/a': a } }],
  ['of no API', { replies: { '/a': a } }],
  ['without replies', { origin }],
  ['that is not JSON', '{'],
])('starts from nothing with a file %s', async (_what, content) => {
  await store(content)
  const cache = await open()
  expect(cache.get('/a')).toBeUndefined()
  await cache.save(() => true)
  expect(await stored()).toEqual({ origin, replies: {} })
})

it('starts from nothing without a file, or with one that is too large or cannot be read', async () => {
  expect((await open()).get('/a')).toBeUndefined()
  await store({ origin, replies: { '/a': a } })
  await truncate(file, 64 * 1024 * 1024 + 1)
  expect((await open()).get('/a')).toBeUndefined()
  await rm(file)
  await mkdir(file)
  expect((await open()).get('/a')).toBeUndefined()
})

it('leaves out a damaged reply, and keeps the others', async () => {
  const damaged = { '/1': null, '/2': 5, '/3': {}, '/4': { etag: 7, body: {} }, '/5': { etag: '"a"' } }
  await store({ origin, replies: { ...damaged, '/a': a } })
  const cache = await open()
  for (const path of Object.keys(damaged)) expect(cache.get(path)).toBeUndefined()
  expect(cache.get('/a')).toEqual(a)
  await cache.save(neither)
  expect(await stored()).toEqual({ origin, replies: {} })
})
