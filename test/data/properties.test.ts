import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { comebackFormat } from '../../src/data/store/comeback-format.ts'
import { comebacksBuilder } from '../../src/data/store/comebacks-database.ts'
import { formatDay, parseDay } from '../../src/data/store/dates.ts'
import { elementsOf } from '../../src/data/store/elements.ts'
import { entryWriter } from '../../src/data/store/entries.ts'
import { numberColumn } from '../../src/data/store/number-column.ts'
import { readSnapshot } from '../../src/data/store/read-snapshot.ts'
import { listed, type Selection, union } from '../../src/data/store/selection.ts'
import { textColumn } from '../../src/data/store/text-column.ts'
import { valueIndex } from '../../src/data/store/value-index.ts'
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
const column = (texts: readonly string[]) => {
  const { add, finish } = textColumn()
  texts.forEach(add)
  return finish()
}
const idsOf = ({ from, total, ids }: Selection) => (ids ? [...ids] : Array.from({ length: total }, (_, index) => from + index))

describe('the parts of a database agree with a naive filter', () => {
  it('substring search', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 40 }), query, (texts, wanted) => {
        expect([...column(texts).find(wanted)]).toEqual(where(texts, (text) => naive(text, wanted)))
      }),
      { numRuns: 2000 },
    )
  })

  it('substring search in sparse texts', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(3000), { maxLength: 5 }), (places) => {
        const texts = Array.from({ length: 3001 }, (_, id) => (places.includes(id) ? 'needle' : 'hay'))
        expect([...column(texts).find('NEEDLE')]).toEqual(places.sort((a, b) => a - b))
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
        const found = idsOf(numberColumn(values).between(least, maximum))
        expect(found).toEqual(where(values, (value) => value !== undefined && value >= least && value <= maximum))
      }),
      { numRuns: 2000 },
    )
  })

  it('equal values', () => {
    fc.assert(
      fc.property(fc.array(fc.array(words, { maxLength: 3 })), words, (lists, wanted) => {
        const index = valueIndex()
        lists.forEach((values, id) => {
          index.add(id, values)
        })
        const { having, values } = index.finish()
        expect([...having(wanted)]).toEqual(where(lists, (list) => list.includes(wanted)))
        expect(new Set(values)).toEqual(new Set(lists.flat().filter((value) => value !== '')))
      }),
    )
  })

  it('union of two selections', () => {
    const ids = fc.uniqueArray(fc.nat(30)).map((list) => new Uint32Array(list.sort((a, b) => a - b)))
    fc.assert(
      fc.property(ids, ids, (left, right) => {
        expect(idsOf(listed(union(left, right)))).toEqual([...new Set([...left, ...right])].sort((a, b) => a - b))
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

describe('a JSON array parsed in batches', () => {
  const outcome = (read: () => unknown) => {
    try {
      return read()
    } catch {
      return 'refused'
    }
  }
  const whole = (text: string) =>
    outcome(() => {
      const value: unknown = JSON.parse(text)
      return Array.isArray(value) ? value : 'refused'
    })
  const pieces = (text: string, size?: number) => outcome(() => [...elementsOf(text, size)].flat())

  it('equals the result of JSON.parse, also if damaged', () => {
    const array = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 }).map((value) => JSON.stringify(value, null, 1))
    const damage = fc.constantFrom('', ',', ',,', '[', ']', '{', '}', '"', '\\', ' ', '\n', '1', 'null', '[]')
    fc.assert(
      fc.property(array, fc.nat(), damage, fc.nat(3), (text, place, inserted, removed) => {
        const at = place % (text.length + 1)
        const damaged = text.slice(0, at) + inserted + text.slice(at + removed)
        expect(pieces(damaged)).toEqual(whole(damaged))
      }),
      { numRuns: 5000 },
    )
  })

  it('equals it wherever an edge is guessed', () => {
    const tricky = fc.constantFrom<unknown>('},{', '"},{"', '\\"},\n {', 1, null, {}, [{}, {}], [[{ a: {} }, { b: 1 }]])
    const element = fc.oneof(tricky, fc.dictionary(fc.constantFrom('a', '},{', '"'), tricky, { maxKeys: 3 }))
    const array = fc
      .tuple(fc.array(element, { maxLength: 30 }), fc.constantFrom(0, 1))
      .map(([value, space]) => JSON.stringify(value, null, space))
    const damage = fc.constantFrom('', ',', ',,', '[', ']', '{', '}', '"', '\\', '},{', '}')
    fc.assert(
      fc.property(array, fc.nat(), damage, fc.nat(3), fc.integer({ min: 1, max: 40 }), (text, place, inserted, removed, size) => {
        expect(pieces(text, size)).toEqual(whole(text))
        const at = place % (text.length + 1)
        const damaged = text.slice(0, at) + inserted + text.slice(at + removed)
        expect(pieces(damaged, size)).toEqual(whole(damaged))
      }),
      { numRuns: 5000 },
    )
  })

  it('has its edges at the ends of elements', () => {
    for (const length of [0, 1, 99, 100, 101, 200, 201]) {
      const elements = Array.from({ length }, (_, id) => ({ id, text: '],"\\' }))
      const text = JSON.stringify(elements)
      expect(pieces(text)).toEqual(elements)
      for (const broken of [
        text.slice(0, -1),
        `${text.slice(0, -1)},]`,
        `${text}]`,
        text.replace('[', '[,'),
        text.replaceAll('},{', '},,{'),
      ]) {
        expect(pieces(broken)).toEqual(whole(broken))
      }
    }
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
      const { add, finish } = comebacksBuilder()
      const db = finish(await readSnapshot(snapshot(entries), comebackFormat, add))
      const page = JSON.parse(db.entries.page({ from: 0, total: db.entries.count }, offset, limit).toString()) as Page
      const expected = entries.slice(offset, offset + limit)
      expect(page).toEqual({ results: expected, count: expected.length })
    }),
  )
})

it('entries of several blocks are returned unchanged, whatever they contain', () => {
  const texts = ['plain', '},{"date":', '\\"},{\\"date\\":', 'Ä각😀', '\uD83D', '']
  const entries = Array.from({ length: 700 }, (_, id) => {
    const text = texts[id % 512 < 256 ? 0 : id % texts.length]!
    return { date: `${id}${text}`, list: [text, '},{'], map: { [text]: text, date: text } }
  })
  const { add, finish } = entryWriter()
  entries.forEach(add)
  const { count, size, page } = finish()
  expect(count).toBe(700)
  expect(size).toBe(Buffer.byteLength(JSON.stringify(entries)) - 1)
  for (const [from, to] of [
    [0, 0],
    [0, 1],
    [0, 256],
    [255, 257],
    [256, 512],
    [300, 700],
    [511, 513],
    [699, 700],
    [0, 700],
  ] as const) {
    const expected = JSON.stringify({ results: entries.slice(from, to), count: to - from })
    expect(page({ from: 0, total: 700 }, from, to - from).toString()).toBe(expected)
    const ids = Uint32Array.from({ length: to - from }, (_, index) => from + index)
    expect(page(listed(ids), 0, 700).toString()).toBe(expected)
  }
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
