import { isDeepStrictEqual } from 'node:util'
import type { Setting } from '../settings/setting.ts'
import type { Config } from './config.ts'
import { slices } from './settings.ts'

/** Settings whose values are replaced while the service runs. */
const replaced: ReadonlySet<string> = new Set(['metricsToken', 'runToken'])

/** The settings that differ and need a restart, except those of servers: their keys in the config file or names in the environment. */
export function changedSettings(before: Config, after: Config): readonly string[] {
  // HOST and PORT are read as a slice of their own.
  const slicesOf = (config: Config): Readonly<Record<string, unknown>> => ({ ...config, listen: config })
  const [old, next] = [slicesOf(before), slicesOf(after)]
  const changed = Object.entries<Readonly<Record<string, Setting<unknown>>>>(slices).flatMap(([slice, table]) => {
    const [oldValues, nextValues] = [old[slice], next[slice]] as readonly Readonly<Record<string, unknown>>[]
    return Object.entries(table).flatMap(([name, { env, file = env }]) => {
      const [before, after] = [oldValues?.[name], nextValues?.[name]]
      const isSame = isDeepStrictEqual(before, after) || (replaced.has(name) && before !== undefined && after !== undefined)
      return isSame ? [] : [file]
    })
  })
  return [...changed, ...(['notify', 'maintenance'] as const).filter((name) => !isDeepStrictEqual(before[name], after[name]))]
}
