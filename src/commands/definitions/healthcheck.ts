import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const healthcheck: Command = {
  name: 'healthcheck',
  summary: 'check that the service on PORT answers, or that a server is up',
  args: [{ name: 'address', isOptional: true }],
  ...settingsOf,
  flags: [
    ...settingsOf.flags,
    { name: 'timeout', value: 'duration', default: '5s', meaning: 'timeout' },
    { name: 'ready', meaning: 'the service must have polled every server; a server must accept players' },
  ],
  codes: { 0: 'healthy', 1: 'not healthy', ...wrongUsage },
  examples: [
    { line: 'tickwarden healthcheck', meaning: 'for HEALTHCHECK of a container' },
    { line: 'tickwarden healthcheck mc.example.org', meaning: 'of a game server' },
  ],
  run: async (call) => (await import('../run-healthcheck.ts')).runHealthcheck(call),
}
