import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const check: Command = {
  name: 'check',
  summary: 'check the configuration, and poll every source of every server once',
  args: [{ name: 'address', isOptional: true }],
  ...settingsOf,
  flags: [
    ...settingsOf.flags,
    { name: 'offline', meaning: 'check the settings only, without polling' },
    { name: 'settings', meaning: 'print the effective settings and where each comes from; secrets are hidden' },
  ],
  codes: { 0: 'every source works', 1: 'a source fails', ...wrongUsage },
  examples: [
    { line: 'tickwarden check --config tickwarden.yaml', meaning: 'before a restart of the service' },
    { line: 'tickwarden check --offline --settings', meaning: 'which settings are in effect, and from where' },
  ],
  run: async (call) => (await import('../check/run-check.ts')).runCheck(call),
}
