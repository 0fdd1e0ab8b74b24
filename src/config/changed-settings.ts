import { isDeepStrictEqual } from 'node:util'
import type { Config } from './config.ts'
import { type SettingName, settings, slices } from './settings.ts'

/** The settings that differ, except those of servers: their keys in the config file or names in the environment. */
export function changedSettings(before: Config, after: Config): readonly string[] {
  const flat = ({ host, port, poll, ...rest }: Config): Readonly<Record<string, unknown>> => {
    const { interval: pollInterval, timeout: pollTimeout, staleAfter } = poll
    const others = Object.keys(slices).map((name) => (rest as Readonly<Record<string, unknown>>)[name])
    return { host, port, pollInterval, pollTimeout, staleAfter, ...Object.assign({}, ...others) }
  }
  const [old, next] = [flat(before), flat(after)]
  const names = (Object.keys(settings) as SettingName[]).filter((name) => !isDeepStrictEqual(old[name], next[name]))
  const sections = (['notify', 'maintenance'] as const).filter((name) => !isDeepStrictEqual(before[name], after[name]))
  const flatNames = names.map((name) => {
    const { env, file }: { readonly env: string; readonly file?: string } = settings[name]
    return file ?? env
  })
  return [...flatNames, ...sections]
}
