import type { SettingTable } from '../settings/setting.ts'
import { decodePart, parseUrl } from '../util/parse-url.ts'

/** Names of the parameters of a URL whose values are secret. */
const secretParameter = /key|token|secret|sig|pass|auth/i

function secretsOfUrl(text: string): readonly string[] {
  const url = text.includes('://') ? parseUrl(text) : undefined
  if (url === undefined) return []
  const { username, password, searchParams } = url
  const parameters = [...searchParams].flatMap(([name, value]) => (secretParameter.test(name) ? [value] : []))
  // A token may be written as a user name.
  return [decodePart(password === '' ? username : password), ...parameters]
}

function secretsIn(value: unknown, isSecret: boolean): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item, isSecret))
  if (typeof value === 'string') return isSecret ? [value] : secretsOfUrl(value)
  const { password } = (value ?? {}) as { readonly password?: unknown }
  return typeof password === 'string' ? [password] : []
}

/** The secrets among the values of a table: secret settings, and the credentials in addresses and URLs. */
export const secretsOf = (table: SettingTable, values: object): readonly string[] =>
  Object.entries(table).flatMap(([key, { secret = false }]) =>
    secretsIn((values as Readonly<Record<string, unknown>>)[key], secret),
  )
