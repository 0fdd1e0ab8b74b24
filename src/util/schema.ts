import type { Ajv, ValidateFunction } from 'ajv'
import type { Static, TSchema, TUnsafe, Type as TypeBox } from 'typebox'
import { load } from './load.ts'

export type { Static, TSchema, TUnsafe }

const optional = new WeakSet<object>()

type Schemas = Readonly<Record<string, object>>

const makers = {
  String: (options?: object) => ({ type: 'string', ...options }),
  Integer: (options?: object) => ({ type: 'integer', ...options }),
  Number: (options?: object) => ({ type: 'number', ...options }),
  Boolean: (options?: object) => ({ type: 'boolean', ...options }),
  Null: (options?: object) => ({ type: 'null', ...options }),
  Literal: (value: string | number | boolean, options?: object) => ({ type: typeof value, const: value, ...options }),
  Enum: (values: readonly unknown[], options?: object) => ({ enum: values, ...options }),
  Union: (anyOf: readonly object[], options?: object) => ({ anyOf, ...options }),
  Array: (items: object, options?: object) => ({ type: 'array', items, ...options }),
  Record: (_name: object, value: object, options?: object) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Object(properties: Schemas, options?: object) {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name] ?? {}))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Optional(schema: object) {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  },
  Unsafe: (schema: object) => schema,
}

/**
 * Creates JSON schemas whose types are those of TypeBox: the schema is the type. Its code is not loaded, because its five hundred
 * modules took a fifth of the time and memory of a start.
 */
export const Type = makers as unknown as Pick<typeof TypeBox, keyof typeof makers>

let ajv: Ajv | undefined

/** Compiles a schema, once. The library is loaded when the first value is checked. */
function validatorOf(schema: TSchema): ValidateFunction {
  ajv ??= new (load<typeof import('ajv')>('ajv').Ajv)({ strict: false })
  return ajv.compile(schema)
}

/** Whether the value is valid. */
export const check = <S extends TSchema>(schema: S, value: unknown): value is Static<S> => validatorOf(schema)(value)
