import { readFileSync } from 'node:fs'
import { type Said, serverKeys } from './file.ts'
import { type Setting, type SettingName, type SettingValues, settings } from './settings.ts'

export type Texts = Readonly<Record<string, string | undefined>>

/** Where settings are looked for, first found first. */
export interface Places {
  /** From the command line, by the setting's environment name. */
  readonly flags: Texts
  readonly env: Texts
  /** From the config file, by the setting's place there. */
  readonly file: ReadonlyMap<string, Said>
}

export const settingNames = Object.keys(settings) as readonly SettingName[]
export type ServerSetting = keyof typeof serverKeys
export const isServerSetting = (name: SettingName): name is ServerSetting => name in serverKeys

/** The flag of a setting: `MC_SERVER` is `--mc-server`; a secret is only read from a file: `--mc-rcon-password-file`. */
export const flagOf = ({ env, secret }: Pick<Setting<unknown>, 'env' | 'secret'>): string =>
  `--${env.toLowerCase().replaceAll('_', '-')}${secret ? '-file' : ''}`

function readSecret(path: string, said: Omit<Said, 'text'>, problems: string[]): Said {
  const from = `${said.from} (${path})`
  try {
    return { ...said, from, text: readFileSync(path, 'utf8').trim() }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    problems.push(`${said.from} is "${path}", which cannot be read (${code}); expected a file with the secret`)
    return { ...said, from, text: undefined }
  }
}

/** The text as the user gave it: flag over environment over file; of a secret also from a file that holds it. */
function find(name: SettingName, { flags, env, file }: Places, problems: string[]): Said | undefined {
  const setting: Setting<unknown> = settings[name]
  const fileSetting = `${setting.env}_FILE`
  for (const [texts, from] of [
    [flags, (env: string) => flagOf({ env })],
    [env, (env: string) => env],
  ] as const) {
    const text = texts[setting.env]
    if (text) return { from: from(setting.env), inFile: false, text }
    const path = setting.secret && texts[fileSetting]
    if (path) return readSecret(path, { from: from(fileSetting), inFile: false }, problems)
  }
  const key = isServerSetting(name) ? serverKeys[name] : setting.file
  const own = key === undefined ? undefined : file.get(key)
  const secretFile = setting.secret ? file.get(`${key}File`) : undefined
  return own ?? (secretFile?.text === undefined ? secretFile : readSecret(secretFile.text, secretFile, problems))
}

/** A value as a message may show it: a URL, whole or not, without its user name and password. */
const quoted = (text: string): string => JSON.stringify(text.replace(/\/\/.*@/s, '//[hidden]@'))

function parse(name: SettingName, said: Said | undefined, problems: string[]): unknown {
  const setting: Setting<unknown> = settings[name]
  const text = said === undefined ? setting.default : said.text
  if (text === undefined) return undefined
  const value = setting.kind.parse(text)
  if (value === undefined) {
    const shown = setting.secret ? 'has a value that does not fit (not shown)' : `is ${quoted(text)}`
    problems.push(`${said?.from ?? setting.env} ${shown}; expected ${setting.kind.expected}`)
  }
  return value
}

export interface Settings<K extends SettingName> {
  /** Undefined for one that was not set and has no default, and for one that is wrong. */
  readonly values: { readonly [N in K]: SettingValues[N] }
  /** What was set, rightly or wrongly. */
  readonly said: ReadonlyMap<SettingName, Said>
}

/** The values of the named settings; each that does not fit is added to `problems`. */
export function readSettings<K extends SettingName>(names: readonly K[], places: Places, problems: string[]): Settings<K> {
  const said = new Map<SettingName, Said>()
  const values = names.map((name) => {
    const found = find(name, places, problems)
    if (found !== undefined) said.set(name, found)
    return [name, parse(name, found, problems)]
  })
  return { values: Object.fromEntries(values) as Settings<K>['values'], said }
}
