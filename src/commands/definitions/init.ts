import { type Command, wrongUsage } from '../command.ts'

export const init: Command = {
  name: 'init',
  summary: 'set up: find servers, test them, and write tickwarden.yaml',
  args: [{ name: 'server', isOptional: true, isRepeated: true }],
  flags: [
    { name: 'listen', value: 'address', default: '127.0.0.1:8080', meaning: 'address of the page, the API and the metrics' },
    { name: 'enable-rcon', meaning: 'switch RCON on in server.properties of each given or found folder; a backup is kept' },
    { name: 'compose', meaning: 'also write compose.yaml' },
    { name: 'systemd', meaning: 'also write tickwarden.service, a unit of systemd' },
    { name: 'prometheus', meaning: 'also write prometheus.yaml, with the job and the alert rules' },
    { name: 'timeout', value: 'duration', default: '5s', meaning: 'timeout of the test of a server' },
    { name: 'force', meaning: 'replace files that exist' },
    { name: 'yes', meaning: 'ask nothing, even on a terminal' },
  ],
  settings: async () => (await import('../setting-flags.ts')).serverFlags(),
  codes: { 0: 'written, and every source works', 1: 'a source fails, or nothing was written', ...wrongUsage },
  examples: [
    { line: 'tickwarden init', meaning: 'asks; servers of this machine are found' },
    { line: 'tickwarden init --yes mc.example.org', meaning: 'one server, without questions' },
    { line: 'tickwarden init --yes --enable-rcon /srv/minecraft', meaning: 'a folder with server.properties, with tick times' },
    {
      line: 'tickwarden init --yes --force --systemd mc.example.org bedrock://mc.example.org',
      meaning: 'two servers, and a unit of systemd',
    },
  ],
  notes:
    'A server is an address, or a folder with server.properties. Without one, the ports and folders of this machine are searched.\n' +
    'Settings of sources, such as --rcon, apply to the first server; secrets are read from the environment or a file.\n' +
    'Files are written to the working directory. Secrets are written to .env, which only you can read.',
  run: async (call) => (await import('../init/run-init.ts')).runInit(call),
}
