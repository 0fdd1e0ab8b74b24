import type { Kind } from './kinds/index.ts'

/** One setting. Its flag is its environment name in lower case with dashes: `MC_SERVER` is `--mc-server`. */
export interface Setting<T> {
  readonly env: string
  /** Key in the config file, e.g. `poll.interval`, or in an entry of `servers`. Absent: cannot be set in the file. */
  readonly file?: string
  /** Without the choices of its kind. */
  readonly meaning: string
  readonly kind: Kind<T>
  /** Default, as text; absent if there is none. */
  readonly default?: string
  /** Description of the behaviour without the setting, shown instead of a default. */
  readonly otherwise?: string
  /** Never shown; can be read from a file: `*_FILE`, in the config file `...File`. */
  readonly secret?: true
  /** Name of the setting in the same table without which this one has no effect. */
  readonly needs?: string
  /** What to use instead, for at least one minor version before the setting is removed; a start with it logs a warning. */
  readonly deprecated?: string
}

/** Defines a setting. Preserves the type of `default`, because a setting with a default always has a value. */
export const setting = <T, const D extends Omit<Setting<T>, 'kind'>>(definition: D & { readonly kind: Kind<T> }) => definition

export type SettingTable = Readonly<Record<string, Setting<unknown>>>

/** The value of each setting of a table; undefined if it has neither a value nor a default, or is wrong. */
export type ValuesOf<T> = { readonly [K in keyof T]: T[K] extends { readonly kind: Kind<infer V> } ? V | undefined : never }

/** The values of a table without mistakes: a setting with a default always has one. */
export type SliceOf<T> = {
  readonly [K in keyof T]: T[K] extends { readonly kind: Kind<infer V> }
    ? T[K] extends { readonly default: string }
      ? V
      : V | undefined
    : never
}

/** Asserts that no setting of the table is wrong. */
export const checked = <T extends SettingTable>(values: ValuesOf<T>): SliceOf<T> => values as unknown as SliceOf<T>

/** Only the settings that have a value. */
export type GivenValues<T> = { readonly [K in keyof T]?: Exclude<ValuesOf<T>[K], undefined> }

/** The flag of a setting: `MC_SERVER` is `--mc-server`; a secret is only read from a file: `--mc-rcon-password-file`. */
export const flagOf = ({ env, secret }: Pick<Setting<unknown>, 'env' | 'secret'>): string =>
  `--${env.toLowerCase().replaceAll('_', '-')}${secret ? '-file' : ''}`

/** The names of a setting in the environment; a secret has a second one for a file. */
export const environmentOf = ({ env, secret }: Pick<Setting<unknown>, 'env' | 'secret'>): readonly string[] =>
  secret ? [env, `${env}_FILE`] : [env]

/** The meaning of a setting, with its values if there are a few, except true and false. */
export const meaningOf = ({ meaning, kind: { choices = [] } }: Setting<unknown>): string =>
  choices.length === 0 || choices.includes('true') ? meaning : `${meaning}: ${choices.join(', ')}`
