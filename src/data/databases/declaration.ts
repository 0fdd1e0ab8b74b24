import { fileOrUrl, type Kind, oneOf } from '../../settings/kinds/index.ts'
import { TreeReader } from '../../settings/tree-reader.ts'
import { groupBy } from '../../util/group-by.ts'
import { isList, isMap, type Tree } from '../../util/yaml.ts'
import { type Field, fieldKinds } from '../store/fields.ts'

const declaredKinds = ['text', 'values', 'date', 'number', 'boolean', 'link'] as const
type DeclaredKind = (typeof declaredKinds)[number]

export interface DeclaredField extends Omit<Field, 'from'> {
  readonly kind: DeclaredKind
  readonly filter: boolean
  readonly list: boolean
}

export interface DatabaseDeclaration {
  readonly name: string
  /** File or URL of its snapshot. */
  readonly place: string
  readonly description: string
  readonly tag: string
  /** Fields to sort by; with a leading `-`, in descending order. */
  readonly order: readonly string[]
  readonly fields: Readonly<Record<string, DeclaredField>>
  /** A boolean field that hides entries in which it is false. */
  readonly visible?: string
}

/** Of other routes and databases; as texts, because the databases load more than a configuration needs. */
export const takenNames: readonly string[] = ['projects', 'kcomebacks', 'run', 'ping', 'status', 'help', 'version', 'debug']
/** Names with the same word would get the same names in the API description. */
const wordOf = (name: string): string => name.toLowerCase().replace(/[-_]/g, '')
const fieldPattern = /^[A-Za-z][A-Za-z0-9_]{0,49}$/
/** Parameters of every route, which a field would hide. */
const parameters = ['limit', 'offset', 'sort', 'order']

const matching = (expected: string, isValid: (text: string) => boolean): Kind<string> => ({
  expected,
  parse: (text) => (isValid(text) ? text : undefined),
})
const anyText = matching('a text', () => true)
const someText = matching('a text', (text) => text !== '')
const databaseName = matching('a name of up to 50 letters, digits, - and _ that begins with a letter', (text) =>
  /^[A-Za-z][A-Za-z0-9_-]{0,49}$/.test(text),
)
const filePath = matching('the path of a file', (text) => text !== '' && !text.includes('://'))
const snapshotUrl = matching('an https:// URL', (text) => /^https?:\/\//i.test(text) && fileOrUrl.parse(text) !== undefined)

function parseDefault(kind: DeclaredKind, tree: Tree, reader: TreeReader): unknown {
  if (tree === null) return undefined
  if (kind === 'values') return reader.names('default')
  if (kind === 'boolean') return reader.boolean('default', false)
  if (kind === 'number')
    return reader.text('default', 'a number', (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined))
  const { warning = () => undefined } = fieldKinds[kind] as { warning?: (value: unknown) => string | undefined }
  const expected = { text: 'a text', date: 'a calendar date of the form YYYY-MM-DD', link: 'a link, such as https://example.org' }
  return reader.text('default', expected[kind], (text) => (warning(text) === undefined ? text : undefined))
}

const fieldKeys = ['kind', 'description', 'required', 'default', 'filter', 'list']

function readField(tree: Tree, place: string, problems: string[]): DeclaredField | undefined {
  if (!isMap(tree)) {
    problems.push(`${place}: expected its kind, such as { kind: text }`)
    return undefined
  }
  const reader = new TreeReader(tree, place, fieldKeys, problems)
  const kind = reader.value('kind', oneOf(...declaredKinds), true)
  if (kind === undefined) return undefined
  const isListed = kind === 'values' || kind === 'boolean'
  const list = reader.boolean('list', isListed)
  if (list && !isListed && kind !== 'text') reader.fail('list', 'only fields of kind text, values and boolean can be listed')
  const otherwise = parseDefault(kind, reader.get('default'), reader)
  const description = reader.value('description', anyText)
  return {
    kind,
    ...{ list, required: reader.boolean('required', false), filter: reader.boolean('filter', kind !== 'link') },
    ...(description !== undefined && { description }),
    ...(otherwise !== undefined && { default: otherwise }),
  }
}

function readFields(reader: TreeReader, problems: string[]): Readonly<Record<string, DeclaredField>> {
  const given = reader.get('fields')
  if (!isMap(given) || given.size === 0) {
    reader.fail('fields', 'expected at least one field, such as { title: { kind: text } }')
    return {}
  }
  const fields: Record<string, DeclaredField> = {}
  const routes = new Set(['getall'])
  for (const [name, tree] of given) {
    const place = `${reader.place}.fields.${name.slice(0, 60)}`
    if (!fieldPattern.test(name))
      problems.push(`${place}: expected a name of up to 50 letters, digits and _ that begins with a letter`)
    else if (parameters.includes(name)) problems.push(`${place}: this name is taken by a parameter of every route`)
    const field = readField(tree, place, problems)
    if (field === undefined) continue
    fields[name] = field
    for (const route of [...(field.filter ? [name] : []), ...(field.list ? [`get${name}`] : [])]) {
      if (routes.has(route)) problems.push(`${place}: the route filter/${route} is taken; choose another name`)
      routes.add(route)
    }
  }
  return fields
}

const keys = ['name', 'file', 'url', 'description', 'tag', 'order', 'fields', 'visible']

function readDeclaration(tree: Tree, place: string, problems: string[]): DatabaseDeclaration | undefined {
  if (!isMap(tree)) {
    problems.push(`${place}: expected a database, such as { name: books, file: ./books.json, fields: { title: { kind: text } } }`)
    return undefined
  }
  const reader = new TreeReader(tree, place, keys, problems)
  const name = reader.value('name', databaseName, true)
  if (name !== undefined && takenNames.includes(wordOf(name))) reader.fail('name', `"${name}" is taken; choose another name`)
  const [file, url] = [reader.value('file', filePath), reader.value('url', snapshotUrl)]
  if ((reader.get('file') === null) === (reader.get('url') === null)) reader.fail('file', 'expected either file or url')
  const fields = readFields(reader, problems)
  const order = reader.names('order')
  const declared = reader.get('fields')
  for (const key of order) {
    const field = key.replace(/^-/, '')
    // One that is declared wrongly is a field as well.
    if (!isMap(declared) || !declared.has(field)) reader.fail('order', `"${field}" is not a field`)
    else if (fields[field]?.kind === 'values') reader.fail('order', `"${field}" has several values`)
  }
  const isFlag = (text: string) => Object.hasOwn(fields, text) && fields[text]?.kind === 'boolean'
  const visible = reader.value('visible', matching('the name of a boolean field', isFlag))
  const snapshot = file ?? url
  if (name === undefined || snapshot === undefined) return undefined
  return {
    ...{ name, fields, order, place: snapshot },
    description: reader.value('description', anyText) ?? `The database ${name}`,
    tag: reader.value('tag', someText) ?? name,
    ...(visible !== undefined && { visible }),
  }
}

/**
 * Reads the value of `databases` in the config file.
 * @param path of the file, for messages
 * @param problems receives every mistake
 */
export function readDeclarations(tree: Tree, path: string, problems: string[]): readonly DatabaseDeclaration[] {
  if (tree === null) return []
  if (!isList(tree)) {
    problems.push(`${path}: databases: expected a list of databases`)
    return []
  }
  const read = tree.map((item, index) => readDeclaration(item, `${path}: databases[${index}]`, problems))
  const names = tree.flatMap((item) => {
    const name = isMap(item) ? item.get('name') : undefined
    return typeof name === 'string' ? [name.slice(0, 60)] : []
  })
  for (const [name, ...others] of groupBy(names, wordOf).values()) {
    for (const other of others) {
      if (other === name) problems.push(`${path}: databases: two databases have the name "${name}"`)
      else problems.push(`${path}: databases: "${name}" and "${other}" differ only in letter case, - and _; choose another name`)
    }
  }
  return read.filter((declaration) => declaration !== undefined)
}
