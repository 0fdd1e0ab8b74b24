import { eventNames } from '../../notify/notification.ts'
import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const notify: Command = {
  name: 'notify',
  summary: 'send a test notification',
  args: [
    { name: 'channel', isOptional: true },
    { name: 'event', isOptional: true, choices: [...eventNames, 'restart'] },
  ],
  ...settingsOf,
  flags: [
    ...settingsOf.flags,
    { name: 'test', meaning: 'send a sample of the event (default: down) to the channel (default: all)' },
  ],
  codes: { 0: 'sent', 1: 'a channel did not accept it', ...wrongUsage, 4: 'no channel is configured' },
  examples: [
    { line: 'tickwarden notify --test', meaning: 'to every channel' },
    { line: 'tickwarden notify --test ops up', meaning: 'that a server is up, to the channel ops' },
  ],
  async run(call) {
    const [{ runNotify }, { configOf }] = await Promise.all([import('../notify.ts'), import('../load-config.ts')])
    const { log, error } = console
    return await runNotify(call, configOf(call, { watches: false }), { print: log, printError: error })
  },
}
