import { type Command, wrongUsage } from '../command.ts'
import { settingsOf } from './settings.ts'

export const record: Command = {
  name: 'record',
  summary: 'write the replies of a server to a folder, without names and secrets',
  args: [{ name: 'address' }],
  ...settingsOf,
  flags: [...settingsOf.flags, { name: 'output', value: 'folder', default: 'recording', meaning: 'folder to write to' }],
  codes: { 0: 'written', 1: 'nothing could be recorded', ...wrongUsage },
  examples: [{ line: 'tickwarden record mc.example.org --output recording', meaning: 'a fixture for tests' }],
  async run(call) {
    const [{ runRecord }, { configOf }] = await Promise.all([import('../record.ts'), import('../load-config.ts')])
    const { output } = call.flags
    const config = configOf(call, { flags: { MC_SERVER: call.args[0] ?? '' } })
    const folder = typeof output === 'string' ? output : 'recording'
    return await runRecord(config, { folder, print: console.log, signal: call.stop })
  },
}
