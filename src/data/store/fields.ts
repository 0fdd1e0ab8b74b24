import { isRecord } from '../../util/is-record.ts'
import type { TSchema } from '../../util/schema.ts'
import { parseDay } from './dates.ts'

/** What the values of a field are. */
interface FieldKind {
  readonly schema: object
  /** Served if an entry has neither the field nor a default. */
  readonly missing: unknown
  /** Converts a value of the file before it is checked. */
  read?(value: unknown): unknown
  /** Why a value is not valid, after the name of the field; undefined if it is. */
  problem(value: unknown): string | undefined
  /** What is unusual about a valid value. */
  warning?(value: unknown): string | undefined
}

const expect = (isValid: boolean, what: string): string | undefined => (isValid ? undefined : ` must be ${what}`)
const isText = (value: unknown): value is string => typeof value === 'string'

const listOf = (value: unknown, problem: (item: unknown) => string | undefined): string | undefined => {
  if (!Array.isArray(value)) return ' must be array'
  for (let index = 0; index < value.length; index++) {
    const found = problem(value[index])
    if (found !== undefined) return `/${index}${found}`
  }
  return undefined
}
const recordOf = (value: unknown, problem: (item: unknown) => string | undefined): string | undefined => {
  if (!isRecord(value)) return ' must be object'
  const wrong = Object.keys(value).find((key) => problem(value[key]) !== undefined)
  return wrong === undefined ? undefined : `/${wrong}${problem(value[wrong])}`
}
/** An array without its nulls. */
const withoutNulls = (value: unknown): unknown =>
  Array.isArray(value) && value.includes(null) ? value.filter((item) => item !== null) : value
/** An object without its nulls. */
const valuesOf = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null)) : value
/** The same; amounts may be strings. */
function amountsOf(value: unknown): unknown {
  if (!isRecord(value)) return value
  const toAmount = (amount: unknown) => (isText(amount) && /^\d{1,15}$/.test(amount) ? Number(amount) : amount)
  const entries = Object.entries(value).map(([name, amount]) => [name, toAmount(amount)])
  return valuesOf(Object.fromEntries(entries))
}
const textProblem = (value: unknown) => expect(isText(value), 'string')
const amountProblem = (value: unknown) =>
  expect(Number.isInteger(value), 'integer') ?? ((value as number) < 0 ? ' must be >= 0' : undefined)
const nullable = (type: string) => ({ anyOf: [{ type }, { type: 'null' }] })

export const fieldKinds = {
  text: { schema: { type: 'string' }, missing: '', problem: textProblem },
  values: {
    schema: { type: 'array', items: { type: 'string' } },
    missing: [],
    read: withoutNulls,
    problem: (value) => listOf(value, textProblem),
  },
  date: {
    schema: nullable('string'),
    missing: null,
    problem: (value) => expect(value === null || isText(value), 'string'),
    warning: (value) =>
      isText(value) && parseDay(value) === undefined ? ' is not a calendar date of the form YYYY-MM-DD' : undefined,
  },
  number: {
    schema: nullable('number'),
    missing: null,
    // A literal such as 1e999 is read as Infinity, which JSON cannot have.
    problem: (value) => expect(value === null || Number.isFinite(value), 'number'),
  },
  boolean: {
    schema: nullable('boolean'),
    missing: null,
    problem: (value) => expect(value === null || typeof value === 'boolean', 'boolean'),
  },
  link: {
    schema: nullable('string'),
    missing: null,
    problem: (value) => expect(value === null || isText(value), 'string'),
    warning: (value) => (isText(value) && !/^https?:\/\/[^\s]+$/i.test(value) ? ' is not a link' : undefined),
  },
  /** Always true or false. */
  flag: { schema: { type: 'boolean' }, missing: false, problem: (value) => expect(typeof value === 'boolean', 'boolean') },
  /** Unix time in seconds. */
  seconds: {
    schema: nullable('integer'),
    missing: null,
    problem: (value) => expect(value === null || Number.isInteger(value), 'integer'),
  },
  amounts: {
    schema: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
    missing: {},
    read: amountsOf,
    problem: (value) => recordOf(value, amountProblem),
  },
  links: {
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    missing: {},
    read: valuesOf,
    problem: (value) => recordOf(value, textProblem),
  },
} as const satisfies Readonly<Record<string, FieldKind>>

/** One field of the entries of a database. */
export interface Field {
  readonly kind: keyof typeof fieldKinds
  readonly description?: string
  readonly required?: boolean
  readonly default?: unknown
  /**
   * The value in an element of the file, if it is not that of the same name.
   * @param today days since 1970-01-01; only for sample data
   */
  from?(element: Readonly<Record<string, unknown>>, today: number | undefined): unknown
}

/** By name, in the order in which entries are served. */
export type Fields = Readonly<Record<string, Field>>

/** Format of the entries of a database, in a snapshot and as served. */
export interface SnapshotFormat<Entry> {
  /** Schema of an entry as served. */
  readonly schema: TSchema
  /**
   * Converts an element of the file to an entry, or returns the reason why it is rejected.
   * @param warn called with what is unusual about an entry
   * @param today days since 1970-01-01; only for sample data
   */
  read(element: unknown, warn?: (reason: string) => void, today?: number): Entry | string
}

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

/** Creates the format of entries with these fields. */
export function createFormat<Entry>({
  fields,
  title,
  example,
  ignored = [],
  warning,
}: FormatOptions<Entry>): SnapshotFormat<Entry> {
  const list = Object.entries(fields).map(([name, field]) => ({ name, ...field, type: fieldKinds[field.kind] as FieldKind }))
  const known = new Set([...list.map(({ name }) => name), ...ignored])
  const properties = list.map(({ name, type, description }) => [name, { ...type.schema, ...(description && { description }) }])
  return {
    schema: {
      type: 'object',
      required: list.map(({ name }) => name),
      properties: Object.fromEntries(properties),
      title,
      ...(example && { examples: [example] }),
    } as TSchema,
    read(element, warn, today) {
      if (!isRecord(element)) return 'is not an object'
      const entry: Record<string, unknown> = {}
      for (const { name, required = false, default: otherwise, type, from } of list) {
        const given = from === undefined ? own(element, name) : from(element, today)
        const value = type.read === undefined ? given : type.read(given)
        if (required && (value === undefined || value === null)) return `${name}${type.problem(value) ?? ' is missing'}`
        const used = value ?? otherwise ?? type.missing
        const problem = type.problem(used)
        if (problem !== undefined) return `${name}${problem}`
        entry[name] = used
        const unusual = warn && type.warning?.(used)
        if (unusual !== undefined) warn?.(`${name}${unusual}`)
      }
      if (warn !== undefined) {
        const unusual = warning?.(entry as Entry)
        if (unusual !== undefined) warn(unusual)
        for (const name of Object.keys(element)) if (!known.has(name)) warn(`${name} is not a field of this database`)
      }
      return entry as Entry
    },
  }
}
