import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const incident: Command = {
  name: 'incident',
  summary: 'list the recorded incidents, or add a note to one',
  args: [
    { name: 'action', choices: ['list', 'note'] },
    { name: 'argument', isRepeated: true, isOptional: true },
  ],
  ...settingsOf,
  codes: {
    0: 'done',
    1: 'the history could not be read or written, or has no such incident',
    ...wrongUsage,
    4: 'not configured: neither HISTORY_DIR nor DATA_DIR is set',
  },
  examples: [
    { line: 'tickwarden incident list survival', meaning: 'those of one server or more, or without a name of all' },
    { line: 'tickwarden incident note survival "The disk was full."', meaning: 'to the newest incident of the server' },
    { line: 'tickwarden incident note 1-1795269000000 "The disk was full."', meaning: 'to the one with this ID' },
  ],
  async run(call) {
    const [{ runIncident }, { configOf }] = await Promise.all([import('../incident.ts'), import('../load-config.ts')])
    return await runIncident(call, configOf(call, { watches: false }), console)
  },
}
