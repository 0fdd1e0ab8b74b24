import type { Command } from '../command.ts'

/** The flags of commands that read the configuration as the service does. */
export const settingsOf: Pick<Command, 'flags' | 'settings'> = {
  flags: [{ name: 'config', value: 'file', meaning: 'settings file (TICKWARDEN_CONFIG)' }],
  settings: async () => (await import('../setting-flags.ts')).settingFlags(),
}
