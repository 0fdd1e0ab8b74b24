import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  describeSetAside,
  type FailedSong,
  isDue,
  isSetAside,
  journalPath,
  openJournal,
  readSetAside,
} from '../../../../src/data/scripts/liked-songs/journal.ts'

let dataDir: string
let path: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tickwarden-journal-'))
  path = journalPath(dataDir)
})
afterEach(() => rm(dataDir, { recursive: true }))

const song = (number: number) => ({ id: `id${number}`, title: `Title ${number}`, artist: 'Artist' })
const failed = (number: number, more: Partial<FailedSong> = {}): FailedSong => ({
  ...song(number),
  ...{ reason: 'it is not known', failures: 1, tried: 1_700_000_000_000 },
  ...more,
})
const line = (value: unknown) => `${JSON.stringify(value)}\n`
const text = () => readFile(path, 'utf8')
const head = line({ account: 'me' })
const idsOf = async (account = 'me') => [...(await openJournal(path, account)).ids]

describe('the journal', () => {
  it('is a file of the data folder', () => expect(path).toBe(join(dataDir, 'likedsongs.jsonl')))

  it('has the account, then a line for each song', async () => {
    const journal = await openJournal(path, 'me')
    expect([journal.ids.size, journal.failed.size]).toEqual([0, 0])
    expect(await readdir(dataDir)).toEqual([])
    await journal.addLoved({ ...song(1), key: 'x', artists: ['Artist'] } as ReturnType<typeof song>)
    await journal.addFailed(failed(2))
    expect(await text()).toBe(head + line(song(1)) + line(failed(2)))
    expect([...journal.ids]).toEqual(['id1', 'id2'])
    expect([...journal.failed]).toEqual([['id2', failed(2)]])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('is continued by the next run, without a second account', async () => {
    await (await openJournal(path, 'me')).addLoved(song(1))
    const journal = await openJournal(path, 'me')
    expect([...journal.ids]).toEqual(['id1'])
    await journal.addLoved(song(2))
    expect(await text()).toBe(head + line(song(1)) + line(song(2)))
  })

  it('gets the account if it is one of an earlier version', async () => {
    await writeFile(path, line(song(1)))
    const journal = await openJournal(path, 'me')
    expect([...journal.ids]).toEqual(['id1'])
    await journal.addLoved(song(2))
    expect(await text()).toBe(line(song(1)) + head + line(song(2)))
  })

  it('begins a new line after one that was not written to its end, once', async () => {
    await writeFile(path, `${head}${line(song(1))}{"id":"id2","ti`)
    const journal = await openJournal(path, 'me')
    expect([...journal.ids]).toEqual(['id1'])
    await journal.addLoved(song(2))
    await journal.addLoved(song(3))
    expect(await text()).toBe(`${head}${line(song(1))}{"id":"id2","ti\n${line(song(2))}${line(song(3))}`)
    expect(await idsOf()).toEqual(['id1', 'id2', 'id3'])
  })

  it('of another account is kept under its name', async () => {
    await (await openJournal(path, 'me')).addLoved(song(1))
    const journal = await openJournal(path, 'you-2')
    expect(journal.ids.size).toBe(0)
    await journal.addLoved(song(2))
    await journal.addLoved(song(3))
    expect(await text()).toBe(line({ account: 'you-2' }) + line(song(2)) + line(song(3)))
    expect(await readFile(join(dataDir, 'likedsongs.me.jsonl'), 'utf8')).toBe(head + line(song(1)))
    expect((await readdir(dataDir)).sort()).toEqual(['likedsongs.jsonl', 'likedsongs.me.jsonl'])
  })

  it('of another account that ends within a line is kept as it is', async () => {
    await writeFile(path, `${head}{"id":"i`)
    await (await openJournal(path, 'you')).addLoved(song(2))
    expect(await text()).toBe(line({ account: 'you' }) + line(song(2)))
  })

  it('of another account is kept in its folder, whatever the name of that', async () => {
    const folder = join(dataDir, 'a.jsonl')
    await mkdir(folder)
    await writeFile(journalPath(folder), head)
    const journal = await openJournal(journalPath(folder), 'you')
    expect(await readdir(folder)).toEqual(['likedsongs.jsonl'])
    await journal.addLoved(song(1))
    await journal.addLoved(song(2))
    expect((await readdir(folder)).sort()).toEqual(['likedsongs.jsonl', 'likedsongs.me.jsonl'])
  })

  it.each([
    ['after other text', `x${head}`],
    ['before other text', '{"account":"other"}x\n'],
    ['with other characters', '{"account":"../x"}\n'],
    ['without a name', '{"account":""}\n'],
  ])('has no account in a line %s', async (_what, content) => {
    await writeFile(path, content)
    await (await openJournal(path, 'me')).addLoved(song(1))
    expect(await text()).toBe(content + head + line(song(1)))
    expect(await readdir(dataDir)).toEqual(['likedsongs.jsonl'])
  })

  it('of nothing gets its account', async () => {
    await writeFile(path, '')
    await (await openJournal(path, 'me')).addLoved(song(1))
    expect(await text()).toBe(head + line(song(1)))
  })

  it('ignores what is no song', async () => {
    const none = [
      '[]',
      'null',
      '{"id":5}',
      '{"title":"a"}',
      'x',
      '',
      '{"id":"a","error":6}',
      '{"id":"b","reason":"r","title":"t"}',
    ]
    const half = [
      ...['{"id":"c","reason":"r","artist":"a"}', '{"id":"d","reason":"r","artist":5,"title":"t"}'],
      ...[line({ ...failed(6), failures: '1' }), line({ ...failed(7), tried: null }), line({ ...song(8), reason: 'r' })],
      line(failed(9, { tried: 1e300 })),
    ]
    await writeFile(path, `${[...none, ...half, '{"id":"e"}'].join('\n')}\n`)
    const journal = await openJournal(path, 'me')
    expect([...journal.ids]).toEqual(['e'])
    expect([...journal.failed]).toEqual([])
  })

  it('has a song failed that failed last, oldest failure first', async () => {
    const journal = await openJournal(path, 'me')
    for (const number of [1, 2, 3]) await journal.addFailed(failed(number))
    await journal.addLoved(song(2))
    await journal.addFailed(failed(1, { failures: 2 }))
    const expected = [
      ['id3', failed(3)],
      ['id1', failed(1, { failures: 2 })],
    ]
    expect([...journal.failed]).toEqual(expected)
    expect([...(await openJournal(path, 'me')).failed]).toEqual(expected)
    expect(await idsOf()).toEqual(['id1', 'id2', 'id3'])
  })

  it('does not store other members of a line with a failed song again', async () => {
    await writeFile(path, head + line({ ...failed(1), state: { retryAt: 5, isIncomplete: true }, other: 'x' }))
    const journal = await openJournal(path, 'me')
    for (const one of [...journal.failed.values()]) await journal.addFailed({ ...one, failures: 2 })
    expect((await text()).split('\n').at(-2)).toBe(JSON.stringify(failed(1, { failures: 2 })))
  })

  const none = { retryAt: 0, isIncomplete: false }
  it('has the state that was stored last, of its account', async () => {
    const journal = await openJournal(path, 'me')
    expect(journal.state).toEqual(none)
    await journal.setState({ retryAt: 5, isIncomplete: true })
    await journal.setState({ retryAt: 7, isIncomplete: false })
    await journal.addLoved(song(1))
    const { state, ids } = await openJournal(path, 'me')
    expect([state, [...ids]]).toEqual([{ retryAt: 7, isIncomplete: false }, ['id1']])
    expect((await openJournal(path, 'you')).state).toEqual(none)
  })

  it.each([null, 5, {}, { retryAt: 5 }, { isIncomplete: true }, { retryAt: '5', isIncomplete: true }])(
    'ignores the state %j',
    async (state) => {
      await writeFile(path, head + line({ state }))
      expect((await openJournal(path, 'me')).state).toEqual(none)
    },
  )

  it('cannot be read if it is too large', async () => {
    await writeFile(path, '')
    await truncate(path, 64 * 1024 * 1024 + 1)
    const reason = 'likedsongs.jsonl has 67108865 bytes; the maximum is 67108864'
    await expect(openJournal(path, 'me')).rejects.toThrow(reason)
    await expect(readSetAside(path)).rejects.toThrow(reason)
  })
})

describe('a song that failed', () => {
  it.each([
    [1, false],
    [2, false],
    [3, true],
    [4, true],
  ])('%i times is set aside: %s', (failures, expected) => expect(isSetAside(failed(1, { failures }))).toBe(expected))

  const tried = 1_700_000_000_000
  const days = (count: number) => tried + count * 86_400_000
  it.each([
    [2, tried, true],
    [3, tried, false],
    [3, days(6.5) - 1, false],
    [3, days(6.5), true],
    [3, days(7), true],
    // The clock was set back.
    [3, tried - 1, true],
  ])('%i times is tried again at %i: %s', (failures, wall, expected) =>
    expect(isDue(failed(1, { failures, tried }), wall)).toBe(expected),
  )

  it('is described with its reason', () => {
    expect(describeSetAside(failed(1))).toBe(
      'set aside, tried again weekly: Artist - Title 1 (it is not known; last tried 2023-11-14)',
    )
  })

  it('is listed if it is set aside', async () => {
    expect(await readSetAside(path)).toEqual([])
    const journal = await openJournal(path, 'me')
    await journal.addFailed(failed(1, { failures: 3 }))
    await journal.addFailed(failed(2, { failures: 2 }))
    const songs = await readSetAside(path)
    expect(songs).toEqual([failed(1, { failures: 3 })])
    // Not read again.
    expect(await readSetAside(path)).toBe(songs)
    await journal.addFailed(failed(2, { failures: 3 }))
    expect(await readSetAside(path)).toHaveLength(2)
    await rm(path)
    expect(await readSetAside(path)).toEqual([])
  })
})
