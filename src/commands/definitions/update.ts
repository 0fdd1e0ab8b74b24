import { scriptNames } from '../../data/scripts/names.ts'
import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const update: Command = {
  name: 'update',
  summary: 'run an update script and show its progress',
  args: [{ name: 'script', choices: scriptNames }],
  ...settingsOf,
  flags: [
    ...settingsOf.flags,
    { name: 'full', meaning: 'read everything again, not only changes' },
    {
      name: 'force',
      value: 'part',
      isValueOptional: true,
      meaning: 'publish the result even if it looks broken; of kcomebacks one month, such as 2024-02',
    },
    { name: 'dry-run', meaning: 'read from the upstreams, but change nothing' },
  ],
  codes: { 0: 'done', 1: 'failed, or already running', ...wrongUsage, 3: 'partly done', 4: 'not configured' },
  examples: [{ line: 'tickwarden update projects --dry-run', meaning: 'what would change' }],
  async run(call) {
    const { flags, stop, args } = call
    const [{ runUpdate }, { configOf }] = await Promise.all([import('../update.ts'), import('../load-config.ts')])
    const { full, force, 'dry-run': dryRun } = flags
    const options = { script: args[0] ?? '', full: full === true, force: force ?? false, dryRun: dryRun === true }
    const { stdout, stderr } = process
    return await runUpdate(options, configOf(call, { watches: false }), { stdout, stderr, signal: stop })
  },
}
