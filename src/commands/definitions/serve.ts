import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'run the service (default command)',
  ...settingsOf,
  codes: { 0: 'stopped', 1: 'the service could not start, or an unexpected error', ...wrongUsage },
  examples: [
    { line: 'MC_SERVER=mc.example.org tickwarden', meaning: 'watch one server, on http://127.0.0.1:8080' },
    { line: 'tickwarden serve --config tickwarden.yaml --port 8080', meaning: 'watch the servers of a file' },
  ],
  run: async (call) => (await import('../run-serve.ts')).runServe(call),
}
