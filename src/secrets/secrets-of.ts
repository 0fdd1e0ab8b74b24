import type { SettingTable } from '../settings/setting.ts'

/** Names of the parameters of a URL whose values are secret. */
const secretParameter = /key|token|secret|sig|pass|auth/i

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function secretsOfUrl(text: string): readonly string[] {
  if (!text.includes('://') || !URL.canParse(text)) return []
  const { username, password, searchParams } = new URL(text)
  const parameters = [...searchParams].flatMap(([name, value]) => (secretParameter.test(name) ? [value] : []))
  // A token may be written as a user name.
  return [decoded(password === '' ? username : password), ...parameters]
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
