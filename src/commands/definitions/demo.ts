import { type Command, wrongUsage } from '../command.ts'
import { demoFlags, toDemoOptions } from '../demo-options.ts'

export const demo: Command = {
  name: 'demo',
  summary: 'run only a demo game server, to try out dashboards or for tests',
  flags: demoFlags,
  codes: { 0: 'stopped', 1: 'the demo server could not start', ...wrongUsage },
  examples: [
    { line: 'tickwarden demo', meaning: 'until Ctrl+C' },
    { line: 'tickwarden demo --era 1.12.2 --scenario lagging', meaning: 'an old version that cannot keep up' },
  ],
  async run({ flags, stop }) {
    const options = toDemoOptions(flags)
    await (await import('../demo.ts')).runDemo(options, stop, console.log)
    return 0
  },
}
