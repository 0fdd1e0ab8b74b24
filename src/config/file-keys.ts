import type { Setting } from '../settings/setting.ts'
import { settings, settingsOfServer } from './settings.ts'

/** A key of the file or of an entry of `servers`. */
export interface KeyInfo {
  /** Whether it accepts a list. */
  readonly many: boolean
  /** A valid value, as written in the file. */
  readonly example: string
}

/** By key: `poll.interval`. */
export type Keys = ReadonlyMap<string, KeyInfo>

const quotedExample = (text: string): string => (/^[\w./-]+$/.test(text) ? text : JSON.stringify(text))

const keysOf = (settings: readonly Setting<unknown>[]): Keys =>
  new Map(
    settings.flatMap(({ file, kind, secret, default: fallback }): (readonly [string, KeyInfo])[] => {
      if (file === undefined) return []
      const example = quotedExample(secret ? 'secret' : fallback || kind.example || '...')
      const many = kind.many === true
      return [
        [file, { many, example }],
        ...(secret ? [[`${file}File`, { many: false, example: '/run/secrets/name' }] as const] : []),
      ]
    }),
  )

/** The keys of the file itself, without `servers`. */
export const fileKeys: Keys = new Map([
  ['listen', { many: false, example: '"127.0.0.1:8080"' }],
  ...keysOf(Object.values(settings)),
])
/** The keys of an entry of `servers`. */
export const entryKeys = keysOf(settingsOfServer)

/** The keys of a section such as `poll.`. */
export const within = (section: string, names: readonly string[]): readonly string[] =>
  names.filter((name) => name.startsWith(section))

/** An example of the content of a section: `{ interval: 5s, timeout: 3s }`. */
export function exampleOf(section: string, keys: Keys): string {
  // Not a secret and its file, which exclude each other.
  const isFile = (key: string) => key.endsWith('File') && keys.has(key.slice(0, -'File'.length))
  const pairs = [...keys].filter(([key]) => key.startsWith(section) && !isFile(key)).slice(0, 2)
  return `{ ${pairs.map(([key, { example }]) => `${key.slice(section.length)}: ${example}`).join(', ')} }`
}
