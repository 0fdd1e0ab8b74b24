import { musicServices, scriptNames } from '../../data/scripts/names.ts'
import { notifiedEvents } from '../../notify/notification.ts'
import { text } from '../../settings/kinds/text.ts'
import { type Command, flagValue } from '../command.ts'
import { demoFlags, toDemoOptions } from '../demo-options.ts'
import { configOf, readsSettings } from './define.ts'

/** The commands about parts of the service, and the tools. */
export const otherCommands: readonly Command[] = [
  readsSettings({
    name: 'notify',
    summary: 'send a test notification',
    args: [
      { name: 'channel', isOptional: true },
      { name: 'event', isOptional: true, choices: notifiedEvents },
    ],
    flags: [{ name: 'test', meaning: 'send a sample of the event (default: down) to the channel (default: all)' }],
    codes: { 0: 'sent', 1: 'a channel did not accept it', 4: 'no channel is configured' },
    examples: [
      { line: 'tickwarden notify --test', meaning: 'to every channel' },
      { line: 'tickwarden notify --test ops up', meaning: 'that a server is up, to the channel ops' },
    ],
    run: async (call) => (await import('../notify.ts')).runNotify(call, await configOf(call), console),
  }),
  readsSettings({
    name: 'maintenance',
    summary: 'start or end the maintenance of servers while the service runs',
    args: [
      { name: 'action', choices: ['start', 'end'] },
      { name: 'server', isRepeated: true },
    ],
    flags: [
      { name: 'for', value: 'duration', default: '1h', meaning: 'how long it lasts at most' },
      { name: 'reason', value: 'text', meaning: 'what is shown on the page and in the API' },
    ],
    codes: { 0: 'stored', 1: 'it could not be stored', 4: 'not configured: none of HISTORY_DIR, DATA_DIR and STATE_URL is set' },
    examples: [
      {
        line: 'tickwarden maintenance start survival --for 30m --reason upgrade',
        meaning: 'names of servers or groups, with * for any text',
      },
      { line: 'tickwarden maintenance end survival', meaning: 'also ends a planned window early' },
    ],
    run: async (call) => (await import('../maintenance.ts')).runMaintenance(call, await configOf(call), console),
  }),
  readsSettings({
    name: 'incident',
    summary: 'list the recorded incidents, or add a note to one',
    args: [
      { name: 'action', choices: ['list', 'note'] },
      { name: 'argument', isRepeated: true, isOptional: true },
    ],
    flags: [],
    codes: {
      0: 'done',
      1: 'the history could not be read or written, or has no such incident',
      4: 'not configured: neither HISTORY_DIR nor DATA_DIR is set',
    },
    examples: [
      { line: 'tickwarden incident list survival', meaning: 'those of one server or more, or without a name of all' },
      { line: 'tickwarden incident note survival "The disk was full."', meaning: 'to the newest incident of the server' },
      { line: 'tickwarden incident note 1-1795269000000 "The disk was full."', meaning: 'to the one with this ID' },
    ],
    run: async (call) => (await import('../incident.ts')).runIncident(call, await configOf(call), console),
  }),
  {
    name: 'mc-monitor',
    summary: 'the command line of itzg/mc-monitor, with its flags, environment, output and exit codes',
    args: [{ name: 'command', isRepeated: true }],
    flags: [],
    isRaw: true,
    codes: { 0: 'success', 1: 'a server cannot be read, or a variable is wrong' },
    examples: [
      { line: 'tickwarden mc-monitor status -host mc.example.org -port 25565', meaning: 'one server' },
      { line: 'tickwarden mc-monitor help', meaning: 'its commands' },
    ],
    run: async ({ args, stop }) => (await import('../mc-monitor/run-mc-monitor.ts')).runMcMonitor(args, stop),
  },
  {
    name: 'demo',
    summary: 'run only a demo game server, to try out dashboards or for tests',
    flags: demoFlags,
    codes: { 0: 'stopped', 1: 'the demo server could not start' },
    examples: [
      { line: 'tickwarden demo', meaning: 'until Ctrl+C' },
      { line: 'tickwarden demo --era 1.12.2 --scenario lagging', meaning: 'an old version that cannot keep up' },
    ],
    async run({ flags, stop }) {
      await (await import('../demo.ts')).runDemo(toDemoOptions(flags), stop, console.log)
      return 0
    },
  },
  readsSettings({
    name: 'update',
    summary: 'run an update script and show its progress',
    args: [{ name: 'script', choices: scriptNames }],
    flags: [
      { name: 'full', meaning: 'read everything again, not only changes' },
      {
        name: 'force',
        value: 'part',
        isValueOptional: true,
        meaning: 'publish the result even if it looks broken; of kcomebacks one month, such as 2024-02',
      },
      { name: 'dry-run', meaning: 'read from the upstreams, but change nothing' },
    ],
    codes: { 0: 'done', 1: 'failed, or already running', 3: 'partly done', 4: 'not configured' },
    examples: [{ line: 'tickwarden update projects --dry-run', meaning: 'what would change' }],
    async run(call) {
      const { full, force, 'dry-run': dryRun } = call.flags
      const options = { script: call.args[0] ?? '', full: full === true, force: force ?? false, dryRun: dryRun === true }
      const io = { stdout: process.stdout, stderr: process.stderr, signal: call.stop }
      return (await import('../update.ts')).runUpdate(options, await configOf(call), io)
    },
  }),
  readsSettings({
    name: 'record',
    summary: 'write the replies of a server to a folder, without names and secrets',
    args: [{ name: 'address' }],
    flags: [{ name: 'output', value: 'folder', default: 'recording', meaning: 'folder to write to' }],
    codes: { 0: 'written', 1: 'nothing could be recorded' },
    examples: [{ line: 'tickwarden record mc.example.org --output recording', meaning: 'a fixture for tests' }],
    async run(call) {
      const { runRecord, serverToRecord } = await import('../record.ts')
      return runRecord(serverToRecord(call), flagValue(call, 'output', text), call.stop, console)
    },
  }),
  readsSettings({
    name: 'authorise',
    summary: 'get the Spotify refresh token or the Last.fm session key for likedsongs',
    args: [{ name: 'service', choices: musicServices }],
    flags: [],
    codes: { 0: 'stored', 1: 'failed', 4: 'not configured' },
    examples: [{ line: 'tickwarden authorise lastfm', meaning: 'asks in the terminal' }],
    async run(call) {
      const config = await configOf(call)
      const [{ runAuthorise }, { createPrompt }] = await Promise.all([import('../authorise.ts'), import('../prompt.ts')])
      const service = musicServices.find((name) => name === call.args[0]) ?? musicServices[0]
      const { readLine, close } = createPrompt(process.stdin, process.stdout)
      try {
        return await runAuthorise(service, config, { log: console.log, error: console.error, readLine, signal: call.stop })
      } finally {
        close()
      }
    },
  }),
  {
    name: 'completion',
    summary: 'print the completion of a shell',
    args: [{ name: 'shell', choices: ['bash', 'zsh', 'fish'] }],
    flags: [],
    codes: { 0: 'printed' },
    examples: [
      { line: 'eval "$(tickwarden completion bash)"', meaning: 'in ~/.bashrc; zsh in ~/.zshrc' },
      { line: 'tickwarden completion fish > ~/.config/fish/completions/tickwarden.fish', meaning: 'for fish' },
    ],
    async run({ args, commands }) {
      const { completionScript } = await import('../completion.ts')
      process.stdout.write(await completionScript(args[0] ?? '', commands))
      return 0
    },
  },
]
