import { defineConfig } from 'vitest/config'
import SkipReporter from './test/helpers/skip-reporter.ts'

/** Left out of `npm run test:quick`: what starts browsers, Prometheus, other people's programs and installs, or takes many seconds. */
const slow = [
  'test/**/*.browser.test.ts',
  'test/**/kill.test.ts',
  'test/**/peers.test.ts',
  'test/bench.test.ts',
  'test/compose.test.ts',
  'test/install.test.ts',
  'test/main.test.ts',
  'test/recovery.test.ts',
  'test/commands/*.test.ts',
  'test/cluster/{locks,membership,replica,workers}.test.ts',
  'test/data/runs/*.test.ts',
  'test/data/scripts/**/script.test.ts',
  'test/exporter/probe.test.ts',
  'test/game/demo/*.test.ts',
  'test/game/sources/conformance.test.ts',
  'test/game/sources/jmx/index.test.ts',
  'test/game/sources/status/hostile.test.ts',
  'test/grafana/*.test.ts',
  'test/history/{persistence,routes}.test.ts',
  'test/http/{docs,edge,server}.test.ts',
  'test/web/pictures/routes.test.ts',
]

export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(mode === 'quick' ? slow : [])],
    reporters: ['default', new SkipReporter()],
    globalSetup: ['test/helpers/global-setup.ts'],
    // They end a vain wait, and are no measure of anything: a busy machine may take a while.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Real sockets and child processes: more workers than cores only make each other late.
    maxWorkers: 2,
  },
}))
