import { expect, it } from 'vitest'
import { createFormat, type Field, fieldKinds } from '../../../src/data/store/fields.ts'

type Entry = Record<string, unknown>

const kinds = Object.keys(fieldKinds) as (keyof typeof fieldKinds)[]
const formatOf = (field: Field) => createFormat<Entry>({ title: 'Toy', fields: { it: field } })

/** What an entry with this value is served as, and the warnings. */
function read(field: Field, element: unknown) {
  const warnings: string[] = []
  const entry = formatOf(field).read(element, (reason) => warnings.push(reason))
  return { entry: typeof entry === 'string' ? entry : entry.it, warnings }
}

it('serves a value for a missing or null one', () => {
  const missing = {
    ...{ text: '', values: [], date: null, number: null, boolean: null, link: null },
    ...{ flag: false, seconds: null, amounts: {}, links: {} },
  }
  for (const kind of kinds) {
    expect(read({ kind }, {}), kind).toEqual({ entry: missing[kind], warnings: [] })
    expect(read({ kind }, { it: null }), kind).toEqual({ entry: missing[kind], warnings: [] })
    expect(read({ kind, required: true }, {}).entry, kind).toMatch(/^it (is missing|must be )/)
  }
  expect(read({ kind: 'text', default: 'Ball' }, {}).entry).toBe('Ball')
  expect(read({ kind: 'text', default: 'Ball' }, { it: '' }).entry).toBe('')
  expect(read({ kind: 'date', required: true }, { it: null }).entry).toBe('it is missing')
  expect(read({ kind: 'text', required: true }, {}).entry).toBe('it must be string')
})

it.each<[kind: keyof typeof fieldKinds, value: unknown, entry?: unknown]>([
  ['text', 'a'],
  ['text', ''],
  ['values', []],
  ['values', ['a', 'b']],
  ['values', [null, 'a', null], ['a']],
  ['number', -1.5],
  ['number', 0],
  ['boolean', false],
  ['boolean', true],
  ['flag', true],
  ['seconds', 5],
  ['seconds', -5],
  ['amounts', { a: 0, b: 7 }],
  ['amounts', { a: '12', b: null, c: '0' }, { a: 12, c: 0 }],
  ['amounts', { a: '123456789012345' }, { a: 123_456_789_012_345 }],
  ['links', { a: 'b', c: null }, { a: 'b' }],
])('accepts a field of kind %s: %j', (kind, value, entry = value) => {
  expect(read({ kind }, { it: value })).toEqual({ entry, warnings: [] })
})

it.each<[keyof typeof fieldKinds, unknown, string]>([
  ['text', 5, 'it must be string'],
  ['values', 'a', 'it must be array'],
  ['values', { a: 'b' }, 'it must be array'],
  ['values', ['a', 1], 'it/1 must be string'],
  ['date', 5, 'it must be string'],
  ['number', '5', 'it must be number'],
  ['number', Number.POSITIVE_INFINITY, 'it must be number'],
  ['boolean', 'true', 'it must be boolean'],
  ['flag', 1, 'it must be boolean'],
  ['seconds', 1.5, 'it must be integer'],
  ['link', 5, 'it must be string'],
  ['amounts', [], 'it must be object'],
  ['amounts', 5, 'it must be object'],
  ['amounts', { a: 1, b: -1, c: -2 }, 'it/b must be >= 0'],
  ['amounts', { a: 1.5 }, 'it/a must be integer'],
  ['amounts', { a: '1234567890123456' }, 'it/a must be integer'],
  ['amounts', { a: '-1' }, 'it/a must be integer'],
  ['amounts', { a: '1x' }, 'it/a must be integer'],
  ['amounts', { a: '' }, 'it/a must be integer'],
  ['links', [], 'it must be object'],
  ['links', { a: 5 }, 'it/a must be string'],
  ['links', 'a', 'it must be object'],
])('rejects a field of kind %s: %j', (kind, value, problem) => expect(read({ kind }, { it: value }).entry).toBe(problem))

it.each<[keyof typeof fieldKinds, unknown, string?]>([
  ['date', '2024-02-29'],
  ['date', '2024-2-3'],
  ['date', '2024-02-TBA', 'it is not a calendar date of the form YYYY-MM-DD'],
  ['link', 'https://a.to/x'],
  ['link', 'HTTP://a'],
  ['link', 'a', 'it is not a link'],
  ['link', 'https://', 'it is not a link'],
  ['link', 'https://a b', 'it is not a link'],
  ['link', 'x https://a', 'it is not a link'],
])('accepts a field of kind %s, %j, and warns if it is unusual', (kind, value, warning) => {
  expect(read({ kind }, { it: value })).toEqual({ entry: value, warnings: warning === undefined ? [] : [warning] })
  expect(formatOf({ kind }).read({ it: value })).toEqual({ it: value })
})

it('rejects what is not an object', () => {
  for (const element of [null, 'a', 1, []]) expect(read({ kind: 'text' }, element).entry).toBe('is not an object')
})

it('reads no inherited property', () => {
  const format = createFormat<Entry>({ title: 'Toy', fields: { ['toString' as string]: { kind: 'text' } } })
  expect(format.read({})).toEqual({ toString: '' })
})

it('warns about other properties, and as the database says', () => {
  const format = createFormat<Entry>({
    title: 'Toy',
    fields: { name: { kind: 'text' } },
    ignored: ['colour'],
    warning: ({ name }) => (name === 'Doll' ? 'it is a doll' : undefined),
  })
  const warnings = (element: object) => {
    const found: string[] = []
    expect(format.read(element, (reason) => found.push(reason))).toEqual({ name: (element as Entry).name })
    expect(format.read(element)).toEqual({ name: (element as Entry).name })
    return found
  }
  expect(warnings({ name: 'Ball', colour: 'red' })).toEqual([])
  expect(warnings({ name: 'Doll', size: 1, age: 2 })).toEqual([
    ...['it is a doll', 'size is not a field of this database', 'age is not a field of this database'],
  ])
})

it('reads a value as the field says', () => {
  const given: unknown[] = []
  const format = formatOf({
    kind: 'text',
    from(element) {
      given.push(element)
      return 'made'
    },
  })
  const element = { it: 'a' }
  expect(format.read(element)).toEqual({ it: 'made' })
  expect(given).toEqual([element])
})

it('describes entries', () => {
  const format = createFormat<Entry>({
    title: 'Toy',
    fields: { name: { kind: 'text', description: 'Its name' }, price: { kind: 'number' }, sizes: { kind: 'amounts' } },
    example: { name: 'Ball' },
  })
  expect(format.schema).toEqual({
    ...{ type: 'object', title: 'Toy', required: ['name', 'price', 'sizes'], examples: [{ name: 'Ball' }] },
    properties: {
      name: { type: 'string', description: 'Its name' },
      price: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      sizes: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
    },
  })
  expect(formatOf({ kind: 'text' }).schema).not.toHaveProperty('examples')
})
