import { execFile } from 'node:child_process'
import { mkdtemp, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { databases } from '../../../src/data/databases/index.ts'
import { openStore, type Store } from '../../../src/data/store/store.ts'
import type { Clock } from '../../../src/util/clock.ts'
import type { Log } from '../../../src/util/log.ts'
import { comeback, lastUpdate, project, snapshot, startDataService } from '../../helpers/data-service.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { until } from '../../helpers/until.ts'

let folder: string
let store: Store | undefined
let lines: { level: string; fields: Record<string, unknown>; message: string }[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tickwarden-store-'))
  lines = []
})
afterEach(async () => {
  await store?.close()
  store = undefined
  await rm(folder, { recursive: true })
})

const note = (level: string) => (fields: unknown, message?: string) => {
  lines.push({ level, fields: fields as Record<string, unknown>, message: message ?? '' })
}
const log: Log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
const warnings = () => lines.filter(({ level }) => level === 'warn')

const file = (database: string) => join(folder, `${database}.json`)
const write = (text: string) => writeFile(file('kcomebacks'), text)
const one = (title: string) => snapshot([comeback({ title })])

async function open(clock: Clock = manualClock(), env: Record<string, string> = { DATA_DIR: folder }): Promise<Store> {
  store = await openStore({ databases, settings: loadConfig({ env }).data, clock, log })
  return store
}
const comebacksOf = (opened: Store) => opened.status().find(({ database }) => database === 'kcomebacks')
const firstTitle = (opened: Store) => {
  const db = opened.current('kcomebacks')
  const page = JSON.parse(db.page(db.all, 0, 1)) as {
    results: { title: string }[]
  }
  return page.results[0]?.title
}

describe('a snapshot file', () => {
  it('is read when the store opens, each database independently', async () => {
    await writeFile(file('projects'), snapshot([project(), project({ visible: false }), {}]))
    const opened = await open()
    expect(opened.status()).toEqual([
      {
        database: 'projects',
        kind: 'file',
        source: 'projects.json',
        state: 'ready',
        entries: 2,
        rejected: 1,
        rejected_entries: [{ position: 3, reason: 'title must be string' }],
        last_update: lastUpdate,
        loaded_at: '2023-11-14T22:13:21.000Z',
        sample: false,
      },
      { database: 'kcomebacks', kind: 'file', source: 'kcomebacks.json', state: 'failed', error: 'the file does not exist' },
    ])
    expect(opened.metrics()).toEqual([
      { database: 'projects', up: true, entries: 1, rejected: 1, lastUpdate: Date.UTC(2024, 1, 3, 4, 5, 6) / 1000 },
      { database: 'kcomebacks', up: false },
    ])
    expect(() => opened.current('kcomebacks')).toThrow('No snapshot of kcomebacks is available: the file does not exist.')
    const rejected = warnings().find(({ fields }) => fields.rejected === 1)
    expect(rejected?.fields.first).toEqual([{ position: 3, reason: 'title must be string' }])
  })

  it('is noticed by a poll: by its time, its size or its inode', async () => {
    await write(one('a'))
    const clock = manualClock()
    const opened = await open(clock)
    const { atime, mtime } = await stat(file('kcomebacks'))
    const polled = async (title: string) => {
      // The file is read outside of the clock's time.
      await until(async () => {
        await clock.advance(2000)
        return firstTitle(opened) === title
      })
    }
    await write(one('bb'))
    await utimes(file('kcomebacks'), atime, mtime)
    await polled('bb')
    await write(one('cc'))
    await utimes(file('kcomebacks'), atime, new Date(mtime.getTime() + 5000))
    await polled('cc')
    await writeFile(file('new'), one('dd'))
    await utimes(file('new'), atime, new Date(mtime.getTime() + 5000))
    await rename(file('new'), file('kcomebacks'))
    await polled('dd')
  })

  it('that has not changed is not read again', async () => {
    await write(one('a'))
    const opened = await open()
    const before = opened.current('kcomebacks')
    await opened.refresh('kcomebacks')
    expect(opened.current('kcomebacks')).toBe(before)
    await write(one('a'))
    await opened.refresh('kcomebacks')
    expect(opened.current('kcomebacks')).not.toBe(before)
  })

  it('says that the folder is a file', async () => {
    await write('')
    const opened = await open(manualClock(), { DATA_DIR: file('kcomebacks') })
    expect(() => opened.current('kcomebacks')).toThrow(
      'No snapshot of kcomebacks is available: a part of its path is a file, not a folder.',
    )
  })

  it.each([
    ['cut off', one('b').slice(0, -3), 'it is not valid JSON, or truncated'],
    ['empty', '', 'it is empty'],
    ['of another form', '{"a":1}', 'it is not a JSON array'],
    ['missing', undefined, 'the file does not exist'],
  ])('that is %s is not served instead of the old one, is logged once, and recovers', async (_what, text, error) => {
    await write(one('a'))
    const opened = await open()
    if (text === undefined) await rm(file('kcomebacks'))
    else await write(text)
    for (let check = 0; check < 3; check++) await opened.refresh('kcomebacks')
    expect(firstTitle(opened)).toBe('a')
    expect(comebacksOf(opened)).toMatchObject({ state: 'failed', error, entries: 1 })
    expect(opened.metrics()).toMatchObject([
      { database: 'projects', up: false },
      { database: 'kcomebacks', up: false, entries: 1 },
    ])
    const messages = warnings().filter(({ fields }) => fields.database === 'kcomebacks')
    expect(messages.map(({ fields, message }) => [fields.reason, message])).toEqual([
      [error, 'snapshot not loaded; the previous one is still served'],
    ])
    // The log includes the folder, because a wrong DATA_DIR is the usual cause.
    expect(messages[0]?.fields.source).toBe(file('kcomebacks'))
    await write(one('b'))
    await opened.refresh('kcomebacks')
    expect(firstTitle(opened)).toBe('b')
    expect(comebacksOf(opened)?.state).toBe('ready')
    expect(comebacksOf(opened)?.error).toBeUndefined()
  })

  it('that exceeds the maximum size is not even read', async () => {
    await write(one('a'))
    const opened = await open()
    await truncate(file('kcomebacks'), 32 * 1024 * 1024 + 1)
    await opened.refresh('kcomebacks')
    expect(comebacksOf(opened)).toMatchObject({ state: 'failed', error: 'it has 33554433 bytes; the maximum is 33554432' })
    expect(firstTitle(opened)).toBe('a')
  })

  it('that is replaced by a pipe is not waited for', async () => {
    await write(one('a'))
    const opened = await open()
    await rm(file('kcomebacks'))
    await promisify(execFile)('mkfifo', [file('kcomebacks')])
    await opened.refresh('kcomebacks')
    expect(comebacksOf(opened)).toMatchObject({ state: 'failed', error: 'it is not a regular file' })
  })

  it('that disappears and returns unchanged is ready again', async () => {
    await write(one('a'))
    const opened = await open()
    await rename(file('kcomebacks'), file('aside'))
    await opened.refresh('kcomebacks')
    expect(comebacksOf(opened)?.state).toBe('failed')
    await rename(file('aside'), file('kcomebacks'))
    await opened.refresh('kcomebacks')
    expect(comebacksOf(opened)?.state).toBe('ready')
  })

  it('may be anywhere, and is named without its folder', async () => {
    await writeFile(join(folder, 'mine.json'), one('mine'))
    const opened = await open(manualClock(), { KCOMEBACKS_SNAPSHOT: join(folder, 'mine.json') })
    expect(firstTitle(opened)).toBe('mine')
    expect(comebacksOf(opened)).toMatchObject({ source: 'mine.json', kind: 'file' })
    expect(opened.status()[0]).toMatchObject({ kind: 'sample', sample: true })
  })
})

describe('the sample', () => {
  it('answers every route without settings, and always has upcoming entries', async () => {
    // 21:59 at UTC+02:00, on the last day of a leap February
    const clock = manualClock(Date.UTC(2024, 1, 29, 19, 59) - 1_700_000_000_000)
    const service = await startDataService({}, { clock, env: { DATA_DIR: '' } })
    const status = (await (await service.get('/v1/status')).json()) as { databases: object[] }
    expect(status.databases).toMatchObject([
      { database: 'projects', kind: 'sample', entries: 12, rejected: 0, sample: true },
      { database: 'kcomebacks', kind: 'sample', entries: 200, rejected: 0, sample: true },
    ])
    const today = async () => {
      const { results } = await service.page('/v1/kcomebacks/upcoming/today')
      expect(results.length).toBeGreaterThan(0)
      expect(JSON.stringify(results)).toContain('Sample')
      return [...new Set(results.map(({ date }) => date))].join()
    }
    expect(await today()).toBe('2024-02-29')
    // Time passes, and the dates of the sample with it.
    await until(async () => {
      await clock.advance(4 * 3_600_000)
      const { results } = await service.page('/v1/kcomebacks/upcoming/today')
      return (
        results[0]?.date === new Date(clock.wall() + 2 * 3_600_000).toISOString().slice(0, 10) &&
        clock.wall() > Date.UTC(2024, 2, 1)
      )
    })
    expect((await service.page('/v1/kcomebacks/filter/daterange?start=2017-01-01&end=2017-12-31&limit=1&offset=0')).count).toBe(1)
    expect((await service.page('/v1/projects/filter/getall?limit=50&offset=0')).count).toBe(10)
    await service.close()
  })
})

it('is closed with the app, and leaves no timer', async () => {
  await write(one('a'))
  const clock = manualClock()
  const opened = await open(clock)
  expect(clock.pending).toBe(2)
  await opened.close()
  expect(clock.pending).toBe(0)
})
