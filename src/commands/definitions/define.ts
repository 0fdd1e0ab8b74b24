import type { Config, ConfigInput } from '../../config/config.ts'
import type { Call, Command } from '../command.ts'

type Definition = Omit<Command, 'settings'>

/** A command that reads the configuration as the service does: every setting is also a flag. */
export const readsSettings = (command: Definition): Command => ({
  ...command,
  flags: [{ name: 'config', value: 'file', meaning: 'settings file (TICKWARDEN_CONFIG)' }, ...command.flags],
  settings: async () => (await import('../setting-flags.ts')).settingFlags(),
})

/** A command whose servers are arguments: the settings of their sources are also flags. */
export const readsServers = (command: Definition): Command => ({
  ...command,
  settings: async () => (await import('../setting-flags.ts')).serverFlags(),
})

/** The configuration of a command that does not watch servers. @throws UsageError that lists every wrong setting */
export const configOf = async (call: Call, input: Pick<ConfigInput, 'watches' | 'flags'> = { watches: false }): Promise<Config> =>
  (await import('../load-config.ts')).configOf(call, input)
