import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readReplies, writeReplies } from '../../../../src/data/scripts/projects/reply-cache.ts'

const origin = 'https://api.example.org'
const a = { etag: '"a"', body: { name: 'a' } }
const b = { etag: 'W/"b"', body: null }

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tickwarden-replies-'))
  file = join(folder, 'cache.json')
})
afterEach(() => rm(folder, { recursive: true }))

const store = (content: unknown) => writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
const read = async () => Object.fromEntries(await readReplies(file, origin))

it('has the replies that were written', async () => {
  const replies = new Map<string, { etag: string; body: unknown }>([
    ['/a', a],
    ['/b', b],
  ])
  await writeReplies(file, origin, replies)
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ origin, replies: Object.fromEntries(replies) })
  expect(await readReplies(file, origin)).toEqual(replies)
})

it.each([
  ['of another API', { origin: 'https://other.example.org', replies: { '/a': a } }],
  ['of no API', { replies: { '/a': a } }],
  ['without replies', { origin }],
  ['that is not JSON', '{'],
])('has none of a file %s', async (_what, content) => {
  await store(content)
  expect(await read()).toEqual({})
})

it('has none without a file, or with one that is too large or cannot be read', async () => {
  expect(await read()).toEqual({})
  await store({ origin, replies: { '/a': a } })
  expect(await read()).toEqual({ '/a': a })
  await truncate(file, 64 * 1024 * 1024 + 1)
  expect(await read()).toEqual({})
  await rm(file)
  await mkdir(file)
  expect(await read()).toEqual({})
})

it('leaves out a damaged reply, and keeps the others', async () => {
  const damaged = { '/1': null, '/2': 5, '/3': {}, '/4': { etag: 7, body: {} }, '/5': { etag: '"a"' } }
  await store({ origin, replies: { ...damaged, '/a': a } })
  expect(await read()).toEqual({ '/a': a })
})
