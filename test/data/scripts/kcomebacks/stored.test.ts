import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { digestOf, type MonthState, readStates, readStored, writeStates } from '../../../../src/data/scripts/kcomebacks/stored.ts'
import { silentLog } from '../../../../src/util/log.ts'

let folder: string
let snapshot: string
let states: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tickwarden-stored-'))
  snapshot = join(folder, 'kcomebacks.json')
  states = join(folder, 'kcomebacks.months.json')
})
afterEach(() => rm(folder, { recursive: true }))

const comeback = (date: string, title = 'Song') => ({ date, time: '18:00', artist: 'A', title, types: [], links: [] })
const warnings = () => {
  const lines: unknown[] = []
  return { lines, log: { ...silentLog, warn: (...parts: unknown[]) => void lines.push(...parts) } }
}

describe('the stored entries', () => {
  it('are those of the snapshot by month, in its order', async () => {
    const entries = ['2024-02-9', '2024-01-31', '2024-02-TBA', '2024-02-01'].map((date) => comeback(date, `of ${date}`))
    await writeFile(snapshot, JSON.stringify([{ last_update: '2024-03-01 10:00:00 UTC' }, ...entries]))
    const [first, second, third, fourth] = entries
    expect(await readStored(snapshot, silentLog)).toEqual({
      months: new Map([
        ['2024-02', [first, third, fourth]],
        ['2024-01', [second]],
      ]),
      lastUpdate: Date.UTC(2024, 2, 1, 10),
    })
  })

  it('are none without a snapshot', async () => {
    expect(await readStored(snapshot, silentLog)).toEqual({ months: new Map(), lastUpdate: undefined })
  })

  it('are those of an earlier snapshot if the current one is broken, with a warning', async () => {
    await writeFile(snapshot, '[')
    await writeFile(`${snapshot}.1`, JSON.stringify([{ last_update: '2024-03-01 10:00:00 UTC' }, comeback('2024-02-01')]))
    const { lines, log } = warnings()
    expect([...(await readStored(snapshot, log)).months.keys()]).toEqual(['2024-02'])
    expect(lines).toEqual(['kcomebacks: kcomebacks.json is not a valid snapshot; kcomebacks.json.1 is used instead'])
  })
})

it('has a digest of the entries, which differs with their order', () => {
  const [a, b] = [comeback('2024-02-01', 'a'), comeback('2024-02-01', 'b')]
  const text = '[{"date":"2024-02-01","time":"18:00","artist":"A","title":"a","types":[],"links":[]}]'
  expect(digestOf([a])).toBe(createHash('sha256').update(text).digest('base64url'))
  expect(digestOf([a, b])).not.toBe(digestOf([b, a]))
})

describe('the state of the pages', () => {
  const state = { revision: 'r', read: 5, digest: 'd' }
  const none = new Map()

  it('is written by month in order, and read again', async () => {
    const months = new Map<string, MonthState>([
      ['2024-02', { ...state, refused: { digest: 'x', times: 2 } }],
      ['2024-03', { read: 7, digest: 'f' }],
      ['2023-12', { read: 6, digest: 'e' }],
    ])
    await writeStates(folder, months)
    const written = JSON.parse(await readFile(states, 'utf8')) as Record<string, object>
    expect(Object.keys(written)).toEqual(['rules', 'months'])
    expect(Object.keys(written.months ?? {})).toEqual(['2023-12', '2024-02', '2024-03'])
    expect(await readStates(folder)).toEqual(months)
  })

  it('is read from a file of an earlier version with other properties, and not from one with other rules', async () => {
    await writeStates(folder, none)
    const { rules } = JSON.parse(await readFile(states, 'utf8')) as { rules: number }
    await writeFile(
      states,
      JSON.stringify({ rules, months: { '2024-02': state }, refused: { '2024-02': { digest: 'd', times: 1 } } }),
    )
    expect(await readStates(folder)).toEqual(new Map([['2024-02', state]]))
    for (const file of [
      { rules: rules - 1, months: { '2024-02': state } },
      { rules, refused: {} },
      { rules, months: { '2024-02': { ...state, read: 'x' } } },
      { rules, months: { '2024-02': { read: 5 } } },
      { rules, months: { '2024-02': { ...state, refused: { digest: 'd' } } } },
    ]) {
      await writeFile(states, JSON.stringify(file))
      expect(await readStates(folder)).toEqual(none)
    }
  })

  it('is empty without a file, and fails with one that is too large', async () => {
    expect(await readStates(folder)).toEqual(none)
    await writeFile(states, '')
    expect(await readStates(folder)).toEqual(none)
    await truncate(states, 1024 * 1024 + 1)
    await expect(readStates(folder)).rejects.toThrow('kcomebacks.months.json has 1048577 bytes; the maximum is 1048576')
  })
})
