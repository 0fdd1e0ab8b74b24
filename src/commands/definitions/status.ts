import { type Command, wrongUsage } from '../command.ts'

export const status: Command = {
  name: 'status',
  summary: 'read servers once and print their state; also `tickwarden ADDRESS`',
  args: [{ name: 'address', isRepeated: true }],
  flags: [
    { name: 'json', meaning: 'print one JSON object per line: address, the state, error and message' },
    { name: 'players', meaning: 'print only the number of players' },
    { name: 'prometheus', meaning: 'print metrics, for example for the textfile collector of node_exporter' },
    { name: 'telegraf', meaning: 'print the InfluxDB line protocol, as mc-monitor does' },
    { name: 'output', value: 'file', meaning: 'write to a file, which is replaced as a whole' },
    { name: 'timeout', value: 'duration', default: '5s', meaning: 'timeout of one attempt' },
    { name: 'retry', value: 'number', default: '0', meaning: 'further attempts while a server is down' },
    { name: 'retry-interval', value: 'duration', default: '10s', meaning: 'time between two attempts' },
    { name: 'ready', meaning: 'treat a server as down until players can join' },
    { name: 'watch', meaning: 'read again until Ctrl+C' },
    { name: 'interval', value: 'duration', default: '5s', meaning: 'time between two reads with --watch' },
  ],
  settings: async () => (await import('../setting-flags.ts')).serverFlags(),
  codes: { 0: 'every server is up', 1: 'a server is down', ...wrongUsage },
  examples: [
    { line: 'tickwarden status mc.example.org', meaning: 'Java, Bedrock and old servers are recognised' },
    { line: 'tickwarden status --json mc.example.org bedrock://mc.example.org', meaning: 'two servers, for a script' },
    {
      line: 'tickwarden status mc.example.org --rcon-password-file /run/secrets/rcon',
      meaning: 'with tick times; a password may also be in MC_RCON_PASSWORD',
    },
    { line: 'tickwarden status --ready --retry 30 --retry-interval 2s mc.example.org', meaning: 'wait until players can join' },
  ],
  notes:
    'An address is host or host:port. Without java:// or bedrock:// before it both editions are tried; Java is preferred.\n' +
    'The settings of sources are flags: --rcon, --query, --proxy-protocol and those that --help sources lists.',
  run: async (call) => (await import('../status/run-status.ts')).runStatus(call),
}
