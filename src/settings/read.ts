import { readText } from './read-text.ts'
import { flagOf, type Setting, type SettingTable, type ValuesOf } from './setting.ts'

const maxSecretBytes = 64 * 1024

/** The text of a setting, and where it was set. */
export interface Given {
  /** For messages: `MC_SERVER`, `--mc-server`, `tickwarden.yaml: poll.interval`. */
  readonly from: string
  readonly inFile: boolean
  /** Undefined if it could not be read, which is already reported. */
  readonly text: string | undefined
}

export type Texts = Readonly<Record<string, string | undefined>>

/** Places where settings are looked up; the first one that has a setting wins. */
export interface Places {
  /** From the command line, by the setting's environment name. */
  readonly flags: Texts
  readonly env: Texts
  /** From the config file, by the setting's key there. */
  readonly file: ReadonlyMap<string, Given>
}

/** Reads the file of a secret. @param fail called with what is wrong, `is "...", which cannot be read` */
export function readSecretFile(path: string, fail: (problem: string) => void): string | undefined {
  try {
    return readText(path, maxSecretBytes).trim()
  } catch (error) {
    fail(`is "${path}", which cannot be read (${(error as Error).message}); expected a file that contains the secret`)
    return undefined
  }
}

const readSecret = (path: string, { from, inFile }: Omit<Given, 'text'>, problems: string[]): Given => ({
  ...{ from: `${from} (${path})`, inFile },
  text: readSecretFile(path, (problem) => problems.push(`${from} ${problem}`)),
})

const bothSet = (value: string, file: string): string => `${value} and ${file} are both set; remove one of them`

/** The text of a setting from flags, environment or config file, in this order; a secret may also be in a separate file. */
function find(setting: Setting<unknown>, { flags, env, file }: Places, problems: string[]): Given | undefined {
  const fileSetting = `${setting.env}_FILE`
  for (const [texts, from] of [
    [flags, (env: string) => flagOf({ env })],
    [env, (env: string) => env],
  ] as const) {
    const text = texts[setting.env]
    const path = setting.secret && texts[fileSetting]
    if (text && path) problems.push(bothSet(from(setting.env), from(fileSetting)))
    if (text) return { from: from(setting.env), inFile: false, text }
    if (path) return readSecret(path, { from: from(fileSetting), inFile: false }, problems)
  }
  const own = setting.file === undefined ? undefined : file.get(setting.file)
  const secretFile = setting.secret ? file.get(`${setting.file}File`) : undefined
  if (own !== undefined && secretFile !== undefined) problems.push(bothSet(own.from, `${setting.file}File`))
  return own ?? (secretFile?.text === undefined ? secretFile : readSecret(secretFile.text, secretFile, problems))
}

/** Quotes a value for a message, with the user name, password and query of URLs hidden, complete or not. */
export function quoted(text: string): string {
  const at = Math.max(0, text.lastIndexOf('@'))
  const withoutUser = text.slice(0, at).replace(/(\/\/|^\s*[a-z][a-z0-9+.-]*:[/\\]*).*/is, '$1[hidden]') + text.slice(at)
  return JSON.stringify(
    withoutUser
      .replace(/^([a-z][a-z0-9+.-]*:[^?#]*)[?#].*/is, '$1?[hidden]')
      // Without a scheme.
      .replace(/\?[^\s?]*=.*/s, '?[hidden]'),
  )
}

function parse(setting: Setting<unknown>, given: Given | undefined, problems: string[]): unknown {
  const text = given === undefined ? setting.default : given.text
  if (text === undefined) return undefined
  const value = setting.kind.parse(text)
  if (value === undefined) {
    const shown = setting.secret ? 'has a value that is not valid (not shown)' : `is ${quoted(text)}`
    problems.push(`${given?.from ?? setting.env} ${shown}; ${setting.kind.advise?.(text) ?? `expected ${setting.kind.expected}`}`)
  }
  return value
}

export interface ReadSettings<T extends SettingTable> {
  /** Undefined for a setting that is not set and has no default, and for a wrong one. */
  readonly values: ValuesOf<T>
  /** The settings that are set, valid or not. */
  readonly given: ReadonlyMap<keyof T, Given>
}

/** Reads the settings of a table; wrong ones are added to `problems`. */
export function readSettings<T extends SettingTable>(table: T, places: Places, problems: string[]): ReadSettings<T> {
  const given = new Map<keyof T, Given>()
  const values = Object.entries(table).map(([name, setting]) => {
    const found = find(setting, places, problems)
    if (found !== undefined) given.set(name, found)
    return [name, parse(setting, found, problems)]
  })
  return { values: Object.fromEntries(values) as ValuesOf<T>, given }
}

/** Warnings about the deprecated settings of a table that are set. */
export const findDeprecated = (table: SettingTable, given: ReadonlyMap<string, Given>): readonly string[] =>
  [...given].flatMap(([name, { from }]) => {
    const instead = table[name]?.deprecated
    return instead === undefined ? [] : [`${from} is deprecated and will be removed; ${instead}.`]
  })
