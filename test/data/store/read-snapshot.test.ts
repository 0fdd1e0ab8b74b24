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
    expect(loaded.sample).toBe(false)
    expect(loaded.lastUpdate).toEqual({ text: '2024-02-03 04:05:06 UTC', time: Date.UTC(2024, 1, 3, 4, 5, 6) / 1000 })
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
    expect(loaded.lastUpdate.text).toBe('2020-01-01 00:00:00 UTC')
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
    await expect(loadSnapshot(text, comebackFormat)).rejects.toThrow(new SnapshotError(reason))
  })
})
