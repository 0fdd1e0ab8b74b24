import { basename } from 'node:path'
import { changedSettings } from '../config/changed-settings.ts'
import { type Config, ConfigError } from '../config/config.ts'
import type { Tokens } from '../config/tokens.ts'
import { DiscoveryError } from '../discovery/provider.ts'
import type { ServerSettings } from '../game/server-settings.ts'
import type { Log } from '../util/log.ts'

/** Reduces paths to file names, because the message is sent to clients. URLs are not changed. */
const withoutFolders = (text: string): string => text.replaceAll(/(?<![\w:/.])\/(?:[\w.@~-]+\/)*(?=[\w.@~-])/g, '')

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
