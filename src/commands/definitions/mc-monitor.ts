import { type Command, wrongUsage } from '../command.ts'

export const mcMonitor: Command = {
  name: 'mc-monitor',
  summary: 'the command line of itzg/mc-monitor, with its flags, environment, output and exit codes',
  args: [{ name: 'command', isRepeated: true }],
  flags: [],
  isRaw: true,
  codes: { 0: 'success', 1: 'a server cannot be read, or a variable is wrong', ...wrongUsage },
  examples: [
    { line: 'tickwarden mc-monitor status -host mc.example.org -port 25565', meaning: 'one server' },
    { line: 'tickwarden mc-monitor help', meaning: 'its commands' },
  ],
  run: async ({ args, stop }) => (await import('../mc-monitor/run-mc-monitor.ts')).runMcMonitor(args, stop),
}
