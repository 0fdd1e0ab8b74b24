import { mkdir, mkdtemp, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readSyncState, storeSyncState } from '../../../../src/data/scripts/liked-songs/sync-state.ts'

let dataDir: string
let file: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tickwarden-sync-state-'))
  file = join(dataDir, 'likedsongs.state.json')
})
afterEach(() => rm(dataDir, { recursive: true }))

const wall = Date.UTC(2026, 0, 15)
const writtenAt = (text: string) => writeFile(file, text).then(() => utimes(file, wall / 1000, wall / 1000))
const day = 86_400_000

it('is what was stored', async () => {
  for (const isIncomplete of [true, false]) {
    await storeSyncState(dataDir, { retryAt: 5, isIncomplete })
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ retryAt: 5, isIncomplete })
  }
})

it.each([
  ['in an hour', wall + 3_600_000, wall + 3_600_000],
  ['in a week, which is limited to a day after it was stored', wall + 7 * day, wall + day],
  ['before it was stored', 0, wall],
])('has a rate limit that ends %s', async (_what, retryAt, expected) => {
  await writtenAt(JSON.stringify({ retryAt, isIncomplete: true }))
  expect(await readSyncState(dataDir)).toEqual({ retryAt: expected, isIncomplete: true })
})

it.each(['', '{', '{}', '{"retryAt":"5"}', '{"retryAt":5,"isIncomplete":1}', '[]'])('is none if the file has %j', async (text) => {
  await writtenAt(text)
  expect(await readSyncState(dataDir)).toEqual({ retryAt: 0, isIncomplete: false })
})

it('is none without a file, and with one that cannot be read', async () => {
  expect(await readSyncState(dataDir)).toEqual({ retryAt: 0, isIncomplete: false })
  await mkdir(file)
  expect(await readSyncState(dataDir)).toEqual({ retryAt: 0, isIncomplete: false })
})

it('is none if the file is too large', async () => {
  await writtenAt('')
  await truncate(file, 65_537)
  expect(await readSyncState(dataDir)).toEqual({ retryAt: 0, isIncomplete: false })
})
