import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The test files that take over two seconds or start third-party servers, without `test/` and `.test.ts`; `*` is part of a name.
 */
const names = [
  '*.browser',
  '*/*.browser',
  'bench',
  'cluster/connection',
  'cluster/different-lists',
  'cluster/faults',
  'cluster/kill',
  'cluster/locks',
  'cluster/membership',
  'cluster/replica',
  'cluster/tls',
  'commands/authorise',
  'commands/record',
  'compose',
  'consistency',
  'data/properties',
  'data/run-routes',
  'data/runs/*',
  'data/scripts/kcomebacks/page',
  'data/scripts/*/script',
  'data/swap',
  'discovery/churn',
  'discovery/file-lists',
  'discovery/providers/*',
  'docs/commands',
  'docs/reverse-proxy',
  'exporter/probe',
  'game/demo/*',
  'game/lossy-line',
  'game/names/system-resolver',
  'game/proxy',
  'game/sources/conformance',
  'game/sources/hints',
  'game/sources/jmx/index',
  'game/sources/management/index',
  'game/sources/management/world-upgrade',
  'game/sources/rcon/index',
  'game/sources/status/hostile',
  'game/sources/status/legacy-status',
  'game/sources/status/minestom',
  'game/sources/status/peers',
  'game/sources/status/recognise',
  'game/watcher/main-thread',
  'game/watcher/recovery',
  'grafana/*',
  'growth',
  'helpers/skip-reporter',
  'history/kill',
  'history/persistence',
  'history/routes',
  'hostile-fleet',
  'http/base-path',
  'http/close',
  'http/docs',
  'http/edge',
  'http/openapi',
  'http/other-methods',
  'http/server',
  'install',
  'live/events',
  'main',
  'package',
  'status-api/favicon',
  'status-api/routes',
  'web/page',
  'web/pictures/routes',
]

/** Skipped by `npm run test:quick`. */
export const slowFiles: readonly string[] = names.map((name) => `test/${name}.test.ts`)

const patterns = slowFiles.map((glob) => new RegExp(`/${glob.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`))
const isSlow = ({ moduleId }: TestSpecification): boolean => patterns.some((pattern) => pattern.test(moduleId))

/**
 * Starts the slow files first, so that no worker runs one alone at the end. The isolated files come before all others, because a
 * worker that is shared ends when the next file is isolated.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rankOf = (file: TestSpecification): number => (file.project.config.isolate ? 0 : 2) + (isSlow(file) ? 0 : 1)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}
