import { isDeepStrictEqual } from 'node:util'
import type { Setting } from '../settings/setting.ts'
import type { Config } from './config.ts'
import { slices } from './settings.ts'

/** The settings that differ, except those of servers: their keys in the config file or names in the environment. */
export function changedSettings(before: Config, after: Config): readonly string[] {
  const valuesOf = (config: Config, slice: string): Readonly<Record<string, unknown>> =>
    ({ ...config, listen: config })[slice as keyof Config] as never
  const changed = Object.entries<Readonly<Record<string, Setting<unknown>>>>(slices).flatMap(([slice, table]) =>
    Object.entries(table).flatMap(([name, { env, file }]) =>
      isDeepStrictEqual(valuesOf(before, slice)[name], valuesOf(after, slice)[name]) ? [] : [file ?? env],
    ),
  )
  return [...changed, ...(['notify', 'maintenance'] as const).filter((name) => !isDeepStrictEqual(before[name], after[name]))]
}
