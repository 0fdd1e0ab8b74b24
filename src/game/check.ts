/** Checks whether an untrusted value has a type. */
export type Check<T> = (value: unknown) => value is T

/** Longer than any text that a source reads. */
const maxTextLength = 262_144
/** Maximum length of a list, such as that of the players. */
export const maxItems = 10_000

export const isText: Check<string> = (value): value is string => typeof value === 'string' && value.length <= maxTextLength
export const isBoolean: Check<boolean> = (value): value is boolean => typeof value === 'boolean'
export const isNumber: Check<number> = (value): value is number => Number.isFinite(value)
export const isInteger: Check<number> = (value): value is number => Number.isSafeInteger(value)
export const isCount: Check<number> = (value): value is number => isInteger(value) && value >= 0
/** Unix milliseconds that a Date can have. */
export const isTime: Check<number> = (value): value is number => isNumber(value) && Math.abs(value) <= 8.64e15
export const isUuid: Check<string> = (value): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)

export const isOneOf =
  <const T>(...choices: readonly T[]): Check<T> =>
  (value): value is T =>
    choices.includes(value as T)

export const isListOf =
  <T>(check: Check<T>): Check<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.length <= maxItems && value.every(check)

type OptionalKey<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T]
type Required<T> = Omit<T, OptionalKey<T>>
type Optional<T> = Pick<T, OptionalKey<T>>
type Checks<T> = { readonly [K in keyof T]-?: Check<Exclude<T[K], undefined>> }

/** Checks the members of an object; it may have others, which a later version of the service may add. */
export function isObject<T extends object>(required: Checks<Required<T>>, optional: Checks<Optional<T>>): Check<T> {
  const needed = Object.entries<Check<unknown>>(required)
  const allowed = Object.entries<Check<unknown>>(optional)
  return (value): value is T => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const members = value as Readonly<Record<string, unknown>>
    return (
      needed.every(([key, check]) => Object.hasOwn(members, key) && check(members[key])) &&
      allowed.every(([key, check]) => !Object.hasOwn(members, key) || members[key] === undefined || check(members[key]))
    )
  }
}
