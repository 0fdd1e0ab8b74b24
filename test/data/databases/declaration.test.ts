import { expect, it } from 'vitest'
import { readDeclarations } from '../../../src/data/databases/declaration.ts'
import { parseTree } from '../../../src/util/yaml.ts'

/** What is read from a list of databases, and the problems. */
function read(yaml: string) {
  const problems: string[] = []
  const tree = parseTree(yaml, 'file', problems) ?? null
  const declarations = readDeclarations(tree, 'file', problems)
  return { declarations, problems: problems.map((line) => line.replace(/^file: databases/, '')) }
}
const database = (more = '', fields = '{ title: { kind: text } }') =>
  read(`[{ name: books, file: b.json, fields: ${fields}${more} }]`)
const field = (text: string) => {
  const { declarations, problems } = database('', `{ f: ${text} }`)
  return problems.length > 0 ? problems : declarations[0]?.fields.f
}

it('has none without a list', () => {
  expect(read('')).toEqual({ declarations: [], problems: [] })
  expect(read('[]')).toEqual({ declarations: [], problems: [] })
})

it('has the defaults of a database', () => {
  expect(database()).toEqual({
    declarations: [
      {
        ...{ name: 'books', place: 'b.json', description: 'The database books', tag: 'books', order: [] },
        fields: { title: { kind: 'text', list: false, required: false, filter: true } },
      },
    ],
    problems: [],
  })
  expect(database().declarations[0]).not.toHaveProperty('visible')
})

it('has what is given', () => {
  const { declarations, problems } = read(`
- name: b-O_0
  url: HTTPS://example.org/b.json
  description: Many books
  tag: Reading
  order: [-read, title]
  visible: owned
  fields:
    title: { kind: text, description: Its name, required: true, filter: false, list: true, default: none }
    owned: { kind: boolean, list: false }
    read: { kind: date }
`)
  expect(problems).toEqual([])
  expect(declarations).toEqual([
    {
      ...{ name: 'b-O_0', place: 'HTTPS://example.org/b.json', description: 'Many books', tag: 'Reading' },
      ...{ order: ['-read', 'title'], visible: 'owned' },
      fields: {
        title: { kind: 'text', description: 'Its name', required: true, filter: false, list: true, default: 'none' },
        owned: { kind: 'boolean', required: false, filter: true, list: false },
        read: { kind: 'date', required: false, filter: true, list: false },
      },
    },
  ])
})

it.each([
  ['text', true, false],
  ['values', true, true],
  ['date', true, false],
  ['number', true, false],
  ['boolean', true, true],
  ['link', false, false],
])('has the defaults of a field of kind %s', (kind, filter, list) => {
  expect(field(`{ kind: ${kind} }`)).toEqual({ kind, required: false, filter, list })
})

it.each([
  ['text', 'two words', 'two words'],
  ['values', '[a, b]', ['a', 'b']],
  ['values', '"a, b"', ['a', 'b']],
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['number', '-1.5', -1.5],
  ['number', '0', 0],
  ['number', '123456789012345.123456789012345', 123456789012345.12],
  ['date', '2026-1-31', '2026-1-31'],
  ['link', 'https://example.org', 'https://example.org'],
])('has for a field of kind %s the default %s', (kind, given, value) => {
  expect(field(`{ kind: ${kind}, default: ${given} }`)).toMatchObject({ default: value })
  expect(field(`{ kind: ${kind}, default: ~ }`)).not.toHaveProperty('default')
})

it.each([
  ['text', '[a]', 'it is missing or not a single value; expected a text'],
  ['values', '{ a: b }', 'expected a list of names'],
  ['boolean', 'yes', 'it is "yes"; expected true or false'],
  ['number', '1e5', 'it is "1e5"; expected a number'],
  ['number', '1.', 'it is "1."; expected a number'],
  ['number', 'x1', 'it is "x1"; expected a number'],
  ['number', '1x', 'it is "1x"; expected a number'],
  ['number', '1234567890123456', 'it is "1234567890123456"; expected a number'],
  ['number', '0.1234567890123456', 'it is "0.1234567890123456"; expected a number'],
  ['date', '2026-02-30', 'it is "2026-02-30"; expected a calendar date of the form YYYY-MM-DD'],
  ['link', 'example.org', 'it is "example.org"; expected a link, such as https://example.org'],
])('rejects for a field of kind %s the default %s', (kind, given, problem) => {
  expect(field(`{ kind: ${kind}, default: ${given} }`)).toEqual([`[0].fields.f.default: ${problem}`])
})

const kinds = 'text, values, date, number, boolean, link'
it.each([
  ['text', ': expected its kind, such as { kind: text }'],
  ['[text]', ': expected its kind, such as { kind: text }'],
  ['{}', `.kind: it is missing or not a single value; expected one of ${kinds}`],
  ['{ kind: integer }', `.kind: it is "integer"; expected one of ${kinds}`],
  ['{ kind: date, list: true }', '.list: only fields of kind text, values and boolean can be listed'],
  ['{ kind: number, list: true }', '.list: only fields of kind text, values and boolean can be listed'],
  ['{ kind: text, required: 1 }', '.required: it is "1"; expected true or false'],
  ['{ kind: text, filter: 1 }', '.filter: it is "1"; expected true or false'],
  ['{ kind: values, list: 1 }', '.list: it is "1"; expected true or false'],
  ['{ kind: text, description: [a] }', '.description: it is missing or not a single value; expected a text'],
  ['{ kind: text, k: 1 }', '.k: unknown setting; expected one of kind, description, required, default, filter, list'],
])('rejects the field %s', (text, problem) => {
  expect(field(text)).toEqual([`[0].fields.f${problem}`])
})

it.each([
  ['a'.repeat(50), true],
  ['a'.repeat(51), false],
  ['A_0', true],
  ['_a', false],
  ['0a', false],
  ['a-b', false],
  ['a b', false],
])('judges the name of the field %s', (name, isValid) => {
  const problem = `[0].fields.${name}: expected a name of up to 50 letters, digits and _ that begins with a letter`
  expect(database('', `{ "${name}": { kind: text } }`).problems).toEqual(isValid ? [] : [problem])
})

it('shows 60 characters of the name of a field', () => {
  const [shown, cut] = ['a'.repeat(60), 'b']
  expect(database('', `{ ${shown}${cut}: { kind: text } }`).problems).toEqual([
    `[0].fields.${shown}: expected a name of up to 50 letters, digits and _ that begins with a letter`,
  ])
})

it.each(['limit', 'offset', 'sort', 'order'])('has no field of the name %s, a parameter', (name) => {
  expect(database('', `{ ${name}: { kind: text } }`).problems).toEqual([
    `[0].fields.${name}: this name is taken by a parameter of every route`,
  ])
})

it.each([
  ['{ all: { kind: values } }', ['all: the route filter/getall is taken; choose another name']],
  ['{ all: { kind: values, list: false } }', []],
  ['{ getall: { kind: text } }', ['getall: the route filter/getall is taken; choose another name']],
  ['{ getall: { kind: link } }', []],
  ['{ a: { kind: values }, geta: { kind: text } }', ['geta: the route filter/geta is taken; choose another name']],
  ['{ a: { kind: text, list: true }, geta: { kind: text, filter: false } }', []],
  ['{ geta: { kind: text }, a: { kind: boolean } }', ['a: the route filter/geta is taken; choose another name']],
])('has each route once with %s', (fields, problems) => {
  expect(database('', fields).problems).toEqual(problems.map((problem) => `[0].fields.${problem}`))
})

it('has at least one field', () => {
  const problem = '[0].fields: expected at least one field, such as { title: { kind: text } }'
  for (const fields of ['{}', '[]', 'text', '~']) expect(database('', fields).problems).toEqual([problem])
  expect(read('[{ name: books, file: b.json }]').problems).toEqual([problem])
})

const expectedName = 'expected a name of up to 50 letters, digits, - and _ that begins with a letter'
it.each([
  ['B', undefined],
  ['a'.repeat(50), undefined],
  ['a'.repeat(51), `it is "${'a'.repeat(51)}"; ${expectedName}`],
  ['0a', `it is "0a"; ${expectedName}`],
  ['a b', `it is "a b"; ${expectedName}`],
  ['[a]', `it is missing or not a single value; ${expectedName}`],
  ['~', `it is missing or not a single value; ${expectedName}`],
  ['projects', '"projects" is taken; choose another name'],
  ['P-ing', '"P-ing" is taken; choose another name'],
  ['s_tat-us', '"s_tat-us" is taken; choose another name'],
])('judges the name of the database %s', (name, problem) => {
  const { declarations, problems } = read(`[{ name: ${name}, file: b.json, fields: { t: { kind: text } } }]`)
  expect(problems).toEqual(problem === undefined ? [] : [`[0].name: ${problem}`])
  if (problem?.startsWith('it is')) expect(declarations).toEqual([])
})

it.each([
  ['', ['.file: expected either file or url']],
  ['file: ~, url: ~', ['.file: expected either file or url']],
  ['file: a, url: "https://example.org"', ['.file: expected either file or url']],
  ['file: ""', ['.file: it is ""; expected the path of a file']],
  ['file: "https://example.org"', ['.file: it is "https://example.org"; expected the path of a file']],
  ['url: a.json', ['.url: it is "a.json"; expected an https:// URL']],
  ['url: "ftp://example.org"', ['.url: it is "ftp://example.org"; expected an https:// URL']],
  ['url: "http://example.org"', ['.url: it is "http://example.org"; expected an https:// URL']],
  ['url: "/books://b"', ['.url: it is "/books://b"; expected an https:// URL']],
  ['url: " https://example.org"', ['.url: it is " https://example.org"; expected an https:// URL']],
])('is not read from %j', (place, problems) => {
  const result = read(`[{ name: books, ${place === '' ? '' : `${place}, `}fields: { t: { kind: text } } }]`)
  expect(result.problems).toEqual(problems.map((problem) => `[0]${problem}`))
  expect(result.declarations).toHaveLength(place.includes('file: a,') ? 1 : 0)
})

const fields = '{ t: { kind: text }, v: { kind: values }, b: { kind: boolean } }'
it.each([
  [', order: t', []],
  [', order: [-t, b]', []],
  [', order: [t-]', ['order: "t-" is not a field']],
  [', order: [--t]', ['order: "-t" is not a field']],
  [', order: [-v, x, t]', ['order: "v" has several values', 'order: "x" is not a field']],
  [', order: [toString]', ['order: "toString" is not a field']],
  [', visible: b', []],
  [', visible: t', ['visible: it is "t"; expected the name of a boolean field']],
  [', visible: x', ['visible: it is "x"; expected the name of a boolean field']],
  [', visible: toString', ['visible: it is "toString"; expected the name of a boolean field']],
  [', tag: ""', ['tag: it is ""; expected a text']],
  [', description: ""', []],
  [', description: [a]', ['description: it is missing or not a single value; expected a text']],
  [', size: 1', ['size: unknown setting; expected one of name, file, url, description, tag, order, fields, visible']],
])('judges a database with%s', (more, problems) => {
  expect(database(more, fields).problems).toEqual(problems.map((problem) => `[0].${problem}`))
})

it('reports a wrong kind once, though the order names the field', () => {
  expect(database(', order: [-t]', '{ t: { kind: txt } }').problems).toEqual([
    '[0].fields.t.kind: it is "txt"; expected one of text, values, date, number, boolean, link',
  ])
})

it.each(['{ a: 1 }', 'text'])('rejects %s as a list', (yaml) => {
  expect(read(yaml)).toEqual({ declarations: [], problems: [': expected a list of databases'] })
})

it.each(['text', '[]', '~'])('rejects %s as a database, and reads the others', (item) => {
  const { declarations, problems } = read(`[${item}, { name: b, file: b.json, fields: { t: { kind: text } } }]`)
  expect(declarations.map(({ name }) => name)).toEqual(['b'])
  expect(problems).toEqual([
    '[0]: expected a database, such as { name: books, file: ./books.json, fields: { title: { kind: text } } }',
  ])
})

const named = (...names: readonly string[]) =>
  read(`[${names.map((name) => `{ name: ${name}, file: b.json, fields: { t: { kind: text } } }`).join(', ')}]`)

it('has databases whose names differ in more than letter case, - and _', () => {
  expect(named('a', 'b', 'c').problems).toEqual([])
  expect(named('a', 'b', 'a').problems).toEqual([': two databases have the name "a"'])
  expect(named('ab', 'c', 'A-b_').problems).toEqual([
    ': "ab" and "A-b_" differ only in letter case, - and _; choose another name',
  ])
  expect(named('ab', 'a-b', 'A_B', 'ab').problems).toEqual([
    ': "ab" and "a-b" differ only in letter case, - and _; choose another name',
    ': "ab" and "A_B" differ only in letter case, - and _; choose another name',
    ': two databases have the name "ab"',
  ])
  const long = 'x'.repeat(70)
  expect(named(long, long).problems).toContain(`: two databases have the name "${'x'.repeat(60)}"`)
  expect(named('[a]', '[a]').problems).toHaveLength(2)
  expect(read('[text, text]').problems).toHaveLength(2)
})
