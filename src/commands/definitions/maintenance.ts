import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const maintenance: Command = {
  name: 'maintenance',
  summary: 'start or end the maintenance of servers while the service runs',
  args: [
    { name: 'action', choices: ['start', 'end'] },
    { name: 'server', isRepeated: true },
  ],
  ...settingsOf,
  flags: [
    ...settingsOf.flags,
    { name: 'for', value: 'duration', default: '1h', meaning: 'how long it lasts at most' },
    { name: 'reason', value: 'text', meaning: 'what is shown on the page and in the API' },
  ],
  codes: { 0: 'stored', 1: 'it could not be stored', ...wrongUsage, 4: 'not configured: neither DATA_DIR nor STATE_URL is set' },
  examples: [
    {
      line: 'tickwarden maintenance start survival --for 30m --reason upgrade',
      meaning: 'names of servers or groups, with * for any text',
    },
    { line: 'tickwarden maintenance end survival', meaning: 'also ends a planned window early' },
  ],
  async run(call) {
    const [{ runMaintenance }, { configOf }] = await Promise.all([import('../maintenance.ts'), import('../load-config.ts')])
    return await runMaintenance(call, configOf(call, { watches: false }), console)
  },
}
