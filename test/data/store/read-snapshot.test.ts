import { describe, expect, it } from 'vitest'
import { comebackFormat } from '../../../src/data/databases/kcomebacks.ts'
import { projectFormat } from '../../../src/data/databases/projects.ts'
import { loadSnapshot, SnapshotError } from '../../../src/data/store/read-snapshot.ts'
import { comeback, project, snapshot } from '../../helpers/data-service.ts'

const comebacks = (...entries: unknown[]) => loadSnapshot(snapshot(entries), comebackFormat)
const projects = (...entries: unknown[]) => loadSnapshot(snapshot(entries), projectFormat)

describe('the form of the original files', () => {
  it('is accepted unchanged', async () => {
    const given = [comeback({ date: '2017-03-1' }), comeback({ date: '2019-11-TBA', time: '--:--' })]
    const loaded = await comebacks(...given)
    expect(loaded.entries).toEqual(given)
    expect(loaded.rejected).toEqual([])
    expect(loaded.lastUpdate).toBe(Date.UTC(2024, 1, 3, 4, 5, 6) / 1000)
  })

  it('may start with a byte order mark', async () => {
    expect((await loadSnapshot(`\uFEFF${snapshot([comeback()])}`, comebackFormat)).entries).toHaveLength(1)
  })

  it('drops nulls in lists and links, and keys that are not served', async () => {
    const { entries } = await comebacks(comeback({ links: [null, 'https://a', null], types: null, extra: 1 }))
    expect(entries).toEqual([comeback({ links: ['https://a'], types: [] })])
    const loaded = await projects(project({ links: { GH: null, WB: 'https://b' }, languages: { C: '12', D: null } }))
    expect(loaded.entries).toEqual([project({ links: { WB: 'https://b' }, languages: { C: 12 } })])
  })

  it('may contain `updated` instead of `last_update`', async () => {
    const { last_update, ...rest } = project()
    const text = snapshot([{ ...rest, updated: last_update }], { updated: '2020-01-01 00:00:00 UTC' })
    const loaded = await loadSnapshot(text, projectFormat)
    expect(loaded.entries).toEqual([project()])
    expect(loaded.lastUpdate).toBe(Date.UTC(2020, 0, 1) / 1000)
  })

  it('may contain blank templates, which are never served', async () => {
    const blank = { title: '', description: null, visible: true, links: { GH: null }, last_update: null }
    const { entries, rejected } = await projects(blank, { title: '' })
    expect(rejected).toEqual([])
    expect(entries.map(({ visible, last_update }) => [visible, last_update])).toEqual([
      [false, null],
      [false, null],
    ])
  })

  it('keeps keys that are property names of JavaScript objects', async () => {
    const { entries } = await projects(JSON.parse(JSON.stringify(project()).replace('"Java"', '"__proto__"')))
    expect(JSON.stringify(entries[0])).toContain('"languages":{"__proto__":10}')
  })
})

describe('an invalid entry', () => {
  it('is rejected with its position and the reason', async () => {
    const { entries, rejected } = await comebacks(
      comeback({ title: 'a' }),
      null,
      'text',
      [],
      comeback({ date: undefined }),
      comeback({ artist: 7 }),
      comeback({ types: 'album' }),
      comeback({ links: ['x', 1] }),
      comeback({ date: 'today+1' }),
      comeback({ title: 'b' }),
    )
    expect(entries.map(({ title, date }) => [title, date])).toEqual([
      ['a', '2019-11-1'],
      ['Love Poem', 'today+1'],
      ['b', '2019-11-1'],
    ])
    expect(rejected).toEqual([
      { position: 2, reason: 'is not an object' },
      { position: 3, reason: 'is not an object' },
      { position: 4, reason: 'is not an object' },
      { position: 5, reason: 'date must be string' },
      { position: 6, reason: 'artist must be string' },
      { position: 7, reason: 'types must be array' },
      { position: 8, reason: 'links/1 must be string' },
    ])
  })

  it.each([
    [{ languages: { Java: 1.5 } }, 'languages/Java must be integer'],
    [{ languages: { Java: -1 } }, 'languages/Java must be >= 0'],
    [{ languages: [] }, 'languages must be object'],
    [{ links: { GH: 1 } }, 'links/GH must be string'],
    [{ visible: 'yes' }, 'visible must be boolean'],
    [{ visible: null }, 'visible must be boolean'],
    [{ last_update: '2024' }, 'last_update must be integer'],
    [{ title: 5 }, 'title must be string'],
  ])('of a project: %j', async (given, reason) => {
    expect(await projects(project(given))).toMatchObject({ entries: [], rejected: [{ position: 1, reason }] })
  })
})

describe('a text that is not a snapshot', () => {
  const head = 'its first element is not {"last_update": "YYYY-MM-DD HH:MM:SS UTC"}'
  it.each([
    ['', 'it is empty'],
    [' \n', 'it is empty'],
    ['<html>', 'it is not valid JSON, or truncated'],
    ['not [a] list', 'it is not valid JSON, or truncated'],
    ['  [1, 2  ', 'it is not valid JSON, or truncated'],
    [Buffer.from('[1]', 'utf16le').toString(), 'it is not valid JSON: it has NUL characters; is it UTF-16 instead of UTF-8?'],
    ['[\ufeff]', 'it is not valid JSON (line 1, column 2: this is not JSON)'],
    ['['.repeat(10_000), expect.stringMatching(/^it is .*nested/)],
    [snapshot([comeback()]).slice(0, -1), 'it is not valid JSON, or truncated'],
    ['{}', 'it is not a JSON array'],
    ['null', 'it is not a JSON array'],
    ['[]', head],
    [JSON.stringify([comeback()]), head],
    [snapshot([], { last_update: '2024-02-30 00:00:00 UTC' }), head],
    [snapshot([], { last_update: '2024-02-03 24:00:00 UTC' }), head],
    [snapshot([], { last_update: '2024-02-03T00:00:00Z' }), head],
    [snapshot([], { last_update: 1 }), head],
  ])('%j', async (text, reason) => {
    const error = await loadSnapshot(text, comebackFormat).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ name: 'SnapshotError', message: reason })
  })
})

describe('a text that stops being JSON', () => {
  it.each([
    ['[1,]', 'line 1, column 4: expected a value; is there a comma too many?'],
    ['[{"a": 1,}]', 'line 1, column 10: expected a name in double quotes; is there a comma too many?'],
    ['[1\n 2]', 'line 2, column 2: expected a comma'],
    ['[{"a" 1}]', 'line 1, column 7: expected a colon'],
    ['[1] 2', 'line 1, column 5: expected nothing after the end of the list'],
    ['[\n\n  // x\n1]', 'line 3, column 3: comments are not allowed'],
    [' [nul]', 'line 1, column 3: this is not JSON'],
  ])('%j is explained', async (text, reason) => {
    await expect(loadSnapshot(text, comebackFormat)).rejects.toThrow(new SnapshotError(`it is not valid JSON (${reason})`))
  })
})

describe('a plain list', () => {
  const now = Date.UTC(2024, 0, 1) / 1000
  const read = (value: unknown) => loadSnapshot(JSON.stringify(value), comebackFormat, now * 1000)
  const updated = Date.UTC(2024, 1, 3, 4, 5, 6) / 1000

  it('may have a time, or is as old as now', async () => {
    const last_update = '2024-02-03 04:05:06 UTC'
    const loaded = { entries: [comeback()], rejected: [] }
    expect(await read([comeback()])).toMatchObject({ ...loaded, lastUpdate: now })
    expect(await read({ entries: [comeback()] })).toMatchObject({ ...loaded, lastUpdate: now })
    expect(await read([{ last_update }, comeback()])).toMatchObject({ ...loaded, lastUpdate: updated })
    expect(await read({ last_update, entries: [comeback()] })).toMatchObject({ ...loaded, lastUpdate: updated })
    expect((await read([{ last_update, other: 1 }])).rejected).toEqual([{ position: 0, reason: 'date must be string' }])
    expect((await read([null])).rejected).toEqual([{ position: 0, reason: 'is not an object' }])
  })

  it.each([
    ...['2024-02-03T04:05:06Z', '2024-02-03T04:05:06.999Z', '2024-02-03T05:05:06+01:00', '2024-02-03T03:05:06-0100'],
    '2024-02-03 04:05:06 UTC',
  ])('may have the time %s', async (last_update) => {
    expect((await read({ last_update, entries: [] })).lastUpdate).toBe(updated)
  })

  it('may have a time without seconds', async () => {
    const { lastUpdate } = await read([{ last_update: '2024-02-03T04:05Z' }])
    expect(lastUpdate).toBe(updated - 6)
  })

  it.each([
    '2024-02-03',
    '2024-02-03T04:05:06',
    'x2024-02-03T04:05Z',
    '2024-02-03T04:05Zx',
    '2024-13-03T04:05Z',
    '2024-02-30T04:05Z',
    5,
    null,
    '9999-12-31T23:59:59-23:59',
    '0001-01-01T00:00:00+23:59',
  ])('has no time %j', async (last_update) => {
    await expect(read({ last_update, entries: [] })).rejects.toThrow(
      new SnapshotError('its last_update is not a time such as 2026-11-22T10:00:00Z'),
    )
  })

  it.each([{}, { entries: {} }, 'text', null])('is not %j', async (value) => {
    await expect(read(value)).rejects.toThrow(
      new SnapshotError('it is neither a JSON array nor {"last_update": ..., "entries": [...]}'),
    )
  })
})

it('has the first 100 warnings, and every entry', async () => {
  const { entries, warnings } = await comebacks(...Array.from({ length: 60 }, () => comeback({ one: 1, two: 2 })))
  expect(entries).toHaveLength(60)
  expect(warnings).toHaveLength(100)
  expect(warnings.at(-1)).toEqual({ position: 50, reason: 'two is not a field of this database' })
  expect((await comebacks(...Array.from({ length: 101 }, () => comeback({ one: 1 })))).warnings).toHaveLength(100)
})

it('has a warning for an entry of a file that is not UTF-8', async () => {
  const text = snapshot([comeback(), comeback({ title: 'Café' })])
  const { entries, warnings } = await loadSnapshot(Buffer.from(text, 'latin1').toString(), comebackFormat)
  expect(entries).toHaveLength(2)
  expect(warnings).toEqual([{ position: 2, reason: 'contains the character U+FFFD: the snapshot may not be UTF-8' }])
})
