import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those of the slow files that take longest, the longest one first: by size, as vitest sorts without earlier times, some would be late. */
const longest = ['bench', 'cluster/kill', 'soak', 'web/page.browser', 'install', 'main', 'growth', 'chart', 'consistency']

/**
 * The test files that take over two seconds or start third-party servers, without `test/` and `.test.ts`; `*` is part of a name.
 */
const names = [
  ...longest,
  '*/*.browser',
  'cluster/connection',
  'cluster/different-lists',
  'cluster/faults',
  'cluster/locks',
  'cluster/membership',
  'cluster/replica',
  'cluster/snapshot-exchange',
  'cluster/tls',
  'cluster/untrusted-snapshot',
  'commands/notify',
  'commands/healthcheck',
  'commands/init',
  'commands/mc-monitor',
  'commands/examples',
  'commands/authorise',
  'commands/record',
  'commands/serve.failing',
  'commands/service-log',
  'compose',
  'data/properties',
  'data/routes/runs',
  'data/runs/*',
  'data/scripts/*/script',
  'data/scripts/liked-songs/kill',
  'data/scripts/liked-songs/runs',
  'data/scripts/kcomebacks/*.model',
  'data/swap',
  'demo/python-clients',
  'discovery/churn',
  'discovery/file-lists',
  'discovery/listeners',
  'discovery/new-provider',
  'discovery/providers/*',
  'docs/commands',
  'docs/generated',
  'docs/reverse-proxy',
  'exporter/probe',
  'faults/*',
  'fuzz/*',
  'game/lossy-line',
  'game/proxy',
  'game/sources/conformance',
  'game/sources/jmx/index',
  'game/sources/management/index',
  'game/sources/new-source',
  'game/sources/rcon/index',
  'game/sources/status/hostile',
  'game/sources/status/minestom',
  'game/sources/status/peers',
  'game/watcher/main-thread',
  'grafana/*',
  'helpers/skip-reporter',
  'history/import',
  'history/incidents',
  'history/store/folder',
  'history/kill',
  'history/many-sessions',
  'history/persistence',
  'history/routes',
  'hostile-fleet',
  'http/base-path',
  'http/clients/client-limits',
  'http/close',
  'http/edge',
  'http/hostile-heads',
  'http/http-server',
  'http/openapi/docs',
  'http/openapi/openapi',
  'http/other-methods',
  'image',
  'live/events',
  'live/hub.model',
  'maintenance/kill',
  'notify/channels',
  'notify/kill',
  'notify/open',
  'notify/shared-outbox',
  'status-api/favicon',
  'status-api/favicon.failing',
  'status-api/routes',
  'supply-chain',
  'util/package',
  'web/brand',
  'web/language',
  'web/page',
  'web/pictures/routes',
]

/** Skipped by `npm run test:quick`. */
export const slowFiles: readonly string[] = names.map((name) => `test/${name}.test.ts`)

/** Matches the ends of their absolute paths. */
export const slowPatterns: readonly RegExp[] = slowFiles.map(
  (glob) => new RegExp(`/${glob.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`),
)
/** The place of a file among those that take longest, then that of all slow ones, then that of all others. */
const rankOf = ({ moduleId }: TestSpecification): number => {
  const index = slowPatterns.findIndex((pattern) => pattern.test(moduleId))
  return index < 0 ? longest.length + 1 : Math.min(index, longest.length)
}

/**
 * Starts the slow files first, so that no worker runs one alone at the end. The isolated files come before all others, because a
 * worker that is shared ends when the next file is isolated.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isShared = ({ project }: TestSpecification): number => (project.config.isolate ? 0 : 1)
    return sorted.toSorted((a, b) => isShared(a) - isShared(b) || rankOf(a) - rankOf(b))
  }
}
