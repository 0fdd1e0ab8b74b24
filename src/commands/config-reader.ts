import { basename } from 'node:path'
import { changedSettings } from '../config/changed-settings.ts'
import type { CurrentTokens } from '../config/tokens.ts'
import { type Config, ConfigError } from '../config.ts'
import { DiscoveryError } from '../discovery/provider.ts'
import type { ServerSettings } from '../game/server.ts'
import type { Log } from '../log.ts'

/** Without the folders of this machine: the message is shown to clients. A URL is left as it is. */
const withoutFolders = (text: string): string => text.replaceAll(/(?<![\w:/.])\/(?:[\w.@~-]+\/)*(?=[\w.@~-])/g, '')

/**
 * A function that reads the configuration again, replaces the tokens and returns its servers. Of the other settings those that have changed are logged,
 * because they need a restart.
 * @param config that runs
 * @throws DiscoveryError that names every mistake
 */
export function createConfigReader(
  config: Config,
  load: () => Config,
  log: Log,
  tokens: CurrentTokens,
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
    const changed = changedSettings(config, tokens.replace(next)).join(', ')
    if (changed !== reported && changed !== '')
      log.warn(
        { settings: changed },
        `Settings have changed that are read at the start only (${changed}): restart the service to apply them.`,
      )
    reported = changed
    return next.servers
  }
}
