import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { comebacksDatabase } from '../../src/data/databases/kcomebacks.ts'
import { filtersOf, isBetween, select } from '../../src/data/routes/filter.ts'
import { Database } from '../../src/data/store/database.ts'
import { formatDay, parseDay } from '../../src/data/store/dates.ts'
import { loadSnapshot } from '../../src/data/store/read-snapshot.ts'
import { comeback, type Page, snapshot, startDataService } from '../helpers/data-service.ts'

// Few letters, so that queries often match, including those that are difficult for folding, joining and searching.
const letter = fc.constantFrom(
  'a',
  'A',
  'b',
  'Ä',
  'ä',
  'a\u0308',
  'İ',
  'i',
  '\u0307',
  'ß',
  'Σ',
  'σ',
  'ς',
  '각',
  '\u1100',
  '\u1161',
  '\n',
  '\0',
  '\uFFFF',
  '.',
  '*',
  '\\',
  '😀',
  '\uD83D',
)
const words = fc.array(letter, { maxLength: 6 }).map((letters) => letters.join(''))
const query = fc.array(letter, { minLength: 1, maxLength: 3 }).map((letters) => letters.join(''))

const naive = (text: string, wanted: string) =>
  text.toLowerCase().normalize('NFC').includes(wanted.toLowerCase().normalize('NFC'))
const where = <T>(items: readonly T[], fits: (item: T) => boolean) => items.flatMap((item, id) => (fits(item) ? [id] : []))
const databaseOf = (values: readonly unknown[]) =>
  new Database({ entries: values.map((value) => ({ value })), lastUpdate: 0, rejected: [], warnings: [] }, {})
const filters = filtersOf('values')
const find = (texts: readonly string[], value: string) => select(databaseOf(texts), filters.text('value', 'a').filter, { value })

describe('the parts of a database agree with a naive filter', () => {
  it('substring search', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 40 }), query, (texts, wanted) => {
        expect(find(texts, wanted)).toEqual(where(texts, (text) => naive(text, wanted)))
      }),
      { numRuns: 2000 },
    )
  })

  it('substring search in sparse texts', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(3000), { maxLength: 5 }), (places) => {
        const texts = Array.from({ length: 3001 }, (_, id) => (places.includes(id) ? 'needle' : 'hay'))
        expect(find(texts, 'NEEDLE')).toEqual(places.sort((a, b) => a - b))
      }),
    )
  })

  it('numbers in a range, in order or not, with gaps or without', () => {
    const number = fc.integer({ min: -5, max: 15 })
    const numbers = fc.oneof(
      fc.array(fc.option(number, { nil: undefined })),
      fc.array(number).map((values) => values.sort((a, b) => a - b)),
    )
    fc.assert(
      fc.property(numbers, number, number, (values, least, maximum) => {
        const db = databaseOf(values)
        const found = db.all.filter(isBetween(db.numbers('value'), least, maximum))
        expect(found).toEqual(where(values, (value) => value !== undefined && value >= least && value <= maximum))
      }),
      { numRuns: 2000 },
    )
  })

  it('equal values', () => {
    fc.assert(
      fc.property(fc.array(fc.array(words, { maxLength: 3 })), words, (lists, wanted) => {
        const found = select(databaseOf(lists), filters.value('value', { example: 'a' }).filter, { value: wanted })
        expect(found).toEqual(where(lists, (list) => list.includes(wanted)))
      }),
    )
  })

  it('days', () => {
    fc.assert(
      fc.property(fc.integer({ min: parseDay('0001-01-01')!, max: parseDay('9999-12-31')! }), (day) => {
        expect(parseDay(formatDay(day))).toBe(day)
      }),
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), fc.nat(14), fc.nat(33), (year, month, day) => {
        const text = [String(year).padStart(4, '0'), month, day].join('-')
        const padded = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-')
        const time = new Date(`${padded}T00:00:00Z`).getTime()
        const real = !Number.isNaN(time) && new Date(time).toISOString().startsWith(padded)
        expect(parseDay(text)).toBe(real ? time / 86_400_000 : undefined)
      }),
    )
  })
})

it('all entries are returned unchanged', async () => {
  const entry = fc.record({
    date: words,
    time: words,
    artist: fc.string({ unit: 'binary' }),
    title: words,
    types: fc.array(words),
    links: fc.array(fc.string()),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 20 }), fc.nat(20), fc.nat(20), async (entries, offset, limit) => {
      const db = new Database(await loadSnapshot(snapshot(entries), comebacksDatabase.format), comebacksDatabase)
      const page = JSON.parse(db.page(db.all, offset, limit)) as Page
      const expected = entries.slice(offset, offset + limit)
      expect(page).toEqual({ results: expected, count: expected.length })
    }),
  )
})

it('pages over HTTP add up to the whole, and count, total and links agree', async () => {
  const letters = fc.constantFrom('a', 'B', 'Ä', '각', ' ', '+', '&', '%')
  const text = fc.array(letters, { minLength: 1, maxLength: 3 }).map((list) => list.join(''))
  const artists = fc.sample(text, { numRuns: 150, seed: 7 })
  const entries = artists.map((artist, id) => comeback({ artist, title: String(id) }))
  const service = await startDataService({ kcomebacks: snapshot(entries) })
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 50 }), fc.nat({ max: 60 }), async (wanted, limit, start) => {
      const expected = entries.filter(({ artist }) => naive(artist as string, wanted))
      const found: unknown[] = []
      const base = `/v1/kcomebacks/filter/artist?${new URLSearchParams({ artist: wanted })}`
      let next: string | undefined = `${base}&limit=${limit}&offset=${start}`
      while (next !== undefined) {
        const reply: Response = await service.get(next)
        const page = (await reply.json()) as Page
        expect(page.count).toBe(page.results.length)
        expect(reply.headers.get('x-total-count')).toBe(String(expected.length))
        found.push(...page.results)
        const link: string = reply.headers.get('link') ?? ''
        const last = /<([^>]+)>; rel="last"/.exec(link)?.[1]
        const offset = Number(new URL(next, service.url).searchParams.get('offset'))
        next = /<([^>]+)>; rel="next"/.exec(link)?.[1]
        if (next === undefined && page.count > 0) expect(last).toBe(`${base}&limit=${limit}&offset=${offset}`)
      }
      expect(found).toEqual(expected.slice(start))
    }),
    { numRuns: 60 },
  )
  await service.close()
})
