import { isRecord } from '../../util/is-record.ts'
import type { TSchema } from '../../util/schema.ts'
import { parseDay } from './dates.ts'

/** The part of JSON Schema that fields need. */
interface FieldSchema {
  readonly type: keyof typeof isOfType
  /** Null is valid too. */
  readonly nullable?: true
  readonly items?: FieldSchema
  readonly additionalProperties?: FieldSchema
  readonly minimum?: number
}

interface FieldKind {
  readonly schema: FieldSchema
  /** Served if an entry has neither the field nor a default; its type is that of all values. */
  readonly missing: unknown
  /** Converts a value of the file before it is checked. */
  read?(value: unknown): unknown
  /** What is unusual about a valid value. */
  warning?(value: unknown): string | undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isOfType = {
  string: isText,
  // A literal such as 1e999 is read as Infinity, which JSON cannot have.
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value: unknown) => typeof value === 'boolean',
  array: Array.isArray,
  object: isRecord,
}

/**
 * Returns why a value is not valid, after the name of the field; undefined if it is. In the words of Ajv, which is not loaded for
 * this: it would slow every start.
 */
function checkOf({ type, nullable, items, additionalProperties, minimum }: FieldSchema): (value: unknown) => string | undefined {
  const isValid: (value: unknown) => boolean = isOfType[type]
  const inner = items ?? additionalProperties
  const checkItem = inner && checkOf(inner)
  return (value) => {
    if (nullable && value === null) return undefined
    if (!isValid(value)) return ` must be ${type}`
    if (minimum !== undefined && (value as number) < minimum) return ` must be >= ${minimum}`
    if (checkItem === undefined) return undefined
    const list: readonly unknown[] = Array.isArray(value) ? value : Object.values(value as object)
    const wrong = list.findIndex((item) => checkItem(item) !== undefined)
    return wrong === -1 ? undefined : `/${Object.keys(value as object)[wrong]}${checkItem(list[wrong])}`
  }
}

const documented = ({ nullable, ...schema }: FieldSchema) => (nullable ? { anyOf: [schema, { type: 'null' }] } : schema)

/** A list or an object without its nulls. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.includes(null) ? value.filter((item) => item !== null) : value
  return isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null)) : value
}

/** The same; amounts may be strings. */
function amountsOf(value: unknown): unknown {
  if (!isRecord(value)) return value
  const toAmount = (amount: unknown) => (isText(amount) && /^\d{1,15}$/.test(amount) ? Number(amount) : amount)
  return withoutNulls(Object.fromEntries(Object.entries(value).map(([name, amount]) => [name, toAmount(amount)])))
}

export const fieldKinds = {
  text: { schema: { type: 'string' }, missing: '' as string },
  values: { schema: { type: 'array', items: { type: 'string' } }, missing: [] as readonly string[], read: withoutNulls },
  date: {
    schema: { type: 'string', nullable: true },
    missing: null as string | null,
    warning: (value) =>
      isText(value) && parseDay(value) === undefined ? ' is not a calendar date of the form YYYY-MM-DD' : undefined,
  },
  number: { schema: { type: 'number', nullable: true }, missing: null as number | null },
  boolean: { schema: { type: 'boolean', nullable: true }, missing: null as boolean | null },
  link: {
    schema: { type: 'string', nullable: true },
    missing: null as string | null,
    warning: (value) => (isText(value) && !/^https?:\/\/[^\s]+$/i.test(value) ? ' is not a link' : undefined),
  },
  /** Always true or false. */
  flag: { schema: { type: 'boolean' }, missing: false as boolean },
  /** Unix time in seconds. */
  seconds: { schema: { type: 'integer', nullable: true }, missing: null as number | null },
  amounts: {
    schema: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
    missing: {} as Readonly<Record<string, number>>,
    read: amountsOf,
  },
  links: {
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    missing: {} as Readonly<Record<string, string>>,
    read: withoutNulls,
  },
} as const satisfies Readonly<Record<string, FieldKind>>

export interface Field {
  readonly kind: keyof typeof fieldKinds
  readonly description?: string
  readonly required?: boolean
  readonly default?: unknown
  /** The value in an element of the file, if it is not that of the same name. */
  from?(element: Readonly<Record<string, unknown>>): unknown
}

/** By name, in the order in which entries are served. */
export type Fields = Readonly<Record<string, Field>>

/** An entry as served. */
export type EntryOf<F extends Fields> = { readonly [Name in keyof F]: (typeof fieldKinds)[F[Name]['kind']]['missing'] }

interface FormatOptions<Entry> {
  readonly fields: Fields
  readonly title: string
  readonly example?: object
  /** Other properties that are known, but not served. */
  readonly ignored?: readonly string[]
  /** What is unusual about a valid entry. */
  warning?(entry: Entry): string | undefined
}

const own = (element: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(element, name) ? element[name] : undefined

/** Format of the entries of a database, in a snapshot and as served. */
export type SnapshotFormat<Entry> = ReturnType<typeof createFormat<Entry>>

export function createFormat<Entry>({ fields, title, example, ignored = [], warning }: FormatOptions<Entry>) {
  const list = Object.entries(fields).map(([name, field]) => {
    const type: FieldKind = fieldKinds[field.kind]
    return { name, ...field, type, check: checkOf(type.schema) }
  })
  const known = new Set([...Object.keys(fields), ...ignored])
  const properties = list.map(({ name, type: { schema }, description }) => [
    name,
    { ...documented(schema), ...(description && { description }) },
  ])
  return {
    schema: {
      type: 'object',
      required: Object.keys(fields),
      properties: Object.fromEntries(properties),
      title,
      ...(example && { examples: [example] }),
    } as TSchema,
    /**
     * Converts an element of the file to an entry, or returns the reason why it is rejected.
     * @param warn called with what is unusual about an entry
     */
    read(element: unknown, warn: (reason: string) => void = () => undefined): Entry | string {
      if (!isRecord(element)) return 'is not an object'
      const entry: Record<string, unknown> = {}
      for (const { name, required, default: otherwise, type, check, from } of list) {
        const given = from === undefined ? own(element, name) : from(element)
        const value = type.read === undefined ? given : type.read(given)
        const isMissing = value === undefined || value === null
        const used = isMissing && !required ? (otherwise ?? type.missing) : value
        const problem = check(used)
        if (problem !== undefined) return `${name}${problem}`
        if (isMissing && required) return `${name} is missing`
        entry[name] = used
        const unusual = type.warning?.(used)
        if (unusual !== undefined) warn(`${name}${unusual}`)
      }
      const unusual = warning?.(entry as Entry)
      if (unusual !== undefined) warn(unusual)
      for (const name of Object.keys(element)) if (!known.has(name)) warn(`${name} is not a field of this database`)
      return entry as Entry
    },
  }
}
