import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Config, ConfigError } from '../config/config.ts'
import { slices } from '../config/settings.ts'
import type { Tokens } from '../config/tokens.ts'
import { DiscoveryError } from '../discovery/provider.ts'
import type { ServerSettings } from '../game/server-settings.ts'
import type { SettingTable } from '../settings/setting.ts'
import type { Log } from '../util/log.ts'

/** Reduces paths to file names, because the message is sent to clients. URLs are not changed. */
const withoutFolders = (text: string): string => text.replaceAll(/(?<![\w:/.])\/(?:[\w.@~-]+\/)*(?=[\w.@~-])/g, '')

/** Settings whose values are replaced while the service runs. */
const replaced: ReadonlySet<string> = new Set(['metricsToken', 'runToken'])

/** The settings that differ and need a restart, except those of servers: their keys in the config file or names in the environment. */
function changedSettings(before: Config, after: Config): readonly string[] {
  // HOST and PORT are read as a slice of their own.
  const slicesOf = (config: Config): Readonly<Record<string, unknown>> => ({ ...config, listen: config })
  const [old, next] = [slicesOf(before), slicesOf(after)]
  const changed = Object.entries<SettingTable>(slices).flatMap(([slice, table]) => {
    const [oldValues, nextValues] = [old[slice], next[slice]] as readonly Readonly<Record<string, unknown>>[]
    return Object.entries(table).flatMap(([name, { env, file = env }]) => {
      const [before, after] = [oldValues?.[name], nextValues?.[name]]
      const isSame = isDeepStrictEqual(before, after) || (replaced.has(name) && before !== undefined && after !== undefined)
      return isSame ? [] : [file]
    })
  })
  const others = (['databases', 'notify', 'maintenance'] as const).filter((name) => !isDeepStrictEqual(before[name], after[name]))
  return [...changed, ...others]
}

/**
 * Creates a function that reads the configuration again, replaces the tokens and returns its servers. Other settings that have changed are logged,
 * because they need a restart.
 * @param config the current configuration
 * @throws DiscoveryError that lists every mistake
 */
export function createConfigReader(
  config: Config,
  load: () => Config,
  log: Log,
  tokens: Tokens,
): () => readonly ServerSettings[] {
  let reported = ''
  return () => {
    let next: Config
    try {
      next = load()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      const file = config.file
      const problems = error.problems.map((problem) =>
        withoutFolders(file === undefined ? problem : problem.replaceAll(file, basename(file))),
      )
      throw new DiscoveryError(problems.join('; '), { cause: error })
    }
    tokens.replace(next)
    const changed = changedSettings(config, next).join(', ')
    if (changed !== reported && changed !== '')
      log.warn(
        { settings: changed },
        `Changed settings that take effect after a restart only: ${changed}. Restart the service to apply them.`,
      )
    reported = changed
    return next.servers
  }
}
