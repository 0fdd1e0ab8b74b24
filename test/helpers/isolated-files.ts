/**
 * The test files that run in a separate process, without `test/` and `.test.ts`: they mock modules, or measure the memory, CPU
 * time or sockets of their process.
 */
const names = [
  'commands/serve.failing',
  'discovery/file-lists',
  'discovery/new-provider',
  'docs/contributing',
  'exporter/metrics',
  'game/names/happy-eyeballs',
  'game/protocol/status/frames',
  'game/sources/conformance',
  'game/sources/directory/reader',
  'game/sources/new-source',
  'game/sources/rcon/index',
  'game/sources/status/hostile',
  'game/sources/status/legacy-status',
  'game/sources/status/raknet',
  'live/hub.model',
  'status-api/favicon.failing',
]

export const isolatedFiles: readonly string[] = names.map((name) => `test/${name}.test.ts`)
