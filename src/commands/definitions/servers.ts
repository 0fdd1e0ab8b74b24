import type { Command } from '../command.ts'
import { readsServers, readsSettings } from './define.ts'

/** The commands about game servers and the service. */
export const serverCommands: readonly Command[] = [
  readsSettings({
    name: 'serve',
    summary: 'run the service (default command)',
    flags: [],
    codes: { 0: 'stopped', 1: 'the service could not start, or an unexpected error' },
    examples: [
      { line: 'MC_SERVER=mc.example.org tickwarden', meaning: 'watch one server, on http://127.0.0.1:8080' },
      { line: 'tickwarden serve --config tickwarden.yaml --port 8080', meaning: 'watch the servers of a file' },
    ],
    run: async (call) => (await import('../run-serve.ts')).runServe(call),
  }),
  readsServers({
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
    codes: { 0: 'every server is up', 1: 'a server is down' },
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
  }),
  readsSettings({
    name: 'check',
    summary: 'check the configuration, and poll every source of every server once',
    args: [{ name: 'address', isOptional: true }],
    flags: [
      { name: 'offline', meaning: 'check the settings only, without polling' },
      { name: 'settings', meaning: 'print the effective settings and where each comes from; secrets are hidden' },
    ],
    codes: { 0: 'every source works', 1: 'a source fails' },
    examples: [
      { line: 'tickwarden check --config tickwarden.yaml', meaning: 'before a restart of the service' },
      { line: 'tickwarden check --offline --settings', meaning: 'which settings are in effect, and from where' },
    ],
    run: async (call) => (await import('../check/run-check.ts')).runCheck(call),
  }),
  readsServers({
    name: 'init',
    summary: 'set up: find servers, test them, and write tickwarden.yaml',
    args: [{ name: 'server', isOptional: true, isRepeated: true }],
    flags: [
      { name: 'listen', value: 'address', default: '127.0.0.1:8080', meaning: 'address of the page, the API and the metrics' },
      { name: 'enable-rcon', meaning: 'switch RCON on in server.properties of each given or found folder; a backup is kept' },
      { name: 'compose', meaning: 'also write compose.yaml' },
      { name: 'systemd', meaning: 'also write tickwarden.service, a systemd unit' },
      { name: 'prometheus', meaning: 'also write prometheus.yaml, with the job and the alert rules' },
      { name: 'timeout', value: 'duration', default: '5s', meaning: 'timeout of the test of a server' },
      { name: 'force', meaning: 'replace files that exist' },
      { name: 'yes', meaning: 'ask nothing, even on a terminal' },
    ],
    codes: { 0: 'written, and every source works', 1: 'a source fails, or nothing was written' },
    examples: [
      { line: 'tickwarden init', meaning: 'asks; servers of this machine are found' },
      { line: 'tickwarden init --yes mc.example.org', meaning: 'one server, without questions' },
      { line: 'tickwarden init --yes --enable-rcon /srv/minecraft', meaning: 'a folder with server.properties, with tick times' },
      {
        line: 'tickwarden init --yes --force --systemd mc.example.org bedrock://mc.example.org',
        meaning: 'two servers, and a systemd unit',
      },
    ],
    notes:
      'A server is an address, or a folder with server.properties. Without one, the ports and folders of this machine are searched.\n' +
      'Settings of sources, such as --rcon, apply to the first server; secrets are read from the environment or a file.\n' +
      'Files are written to the working directory. Secrets are written to .env, those of further servers and\n' +
      'those that .env cannot contain to the folder secrets; only you can read them.',
    run: async (call) => (await import('../init/run-init.ts')).runInit(call),
  }),
  readsSettings({
    name: 'healthcheck',
    summary: 'check that the service on PORT answers, or that a server is up',
    args: [{ name: 'address', isOptional: true }],
    flags: [
      { name: 'timeout', value: 'duration', default: '5s', meaning: 'timeout' },
      { name: 'ready', meaning: 'the service must have polled every server; a server must accept players' },
    ],
    codes: { 0: 'healthy', 1: 'not healthy' },
    examples: [
      { line: 'tickwarden healthcheck', meaning: 'for HEALTHCHECK of a container' },
      { line: 'tickwarden healthcheck mc.example.org', meaning: 'of a game server' },
    ],
    run: async (call) => (await import('../run-healthcheck.ts')).runHealthcheck(call),
  }),
]
