import { defineConfig } from 'vitest/config'
import { isolatedFiles } from './test/helpers/isolated-files.ts'
import SkipReporter from './test/helpers/skip-reporter.ts'
import { SlowFirst, slowFiles } from './test/helpers/slow-files.ts'

export default defineConfig(({ mode }) => {
  const exclude = ['**/node_modules/**', ...(mode === 'quick' ? slowFiles : [])]
  const common = {
    // They end a wait for what never happens, and measure nothing: a busy machine may take a while.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // On two cores: many tests wait for other processes most of the time, so that fewer workers leave the cores idle.
    maxWorkers: 6,
    // The young generation starts at its maximum size instead of 1 MiB: with fewer garbage collections, a file that takes four seconds of
    // CPU time takes a tenth less.
    execArgv: ['--min-semi-space-size=16'],
    // In the long run, each of so many processes fuzzes a reader.
    maxConcurrency: Number(process.env.FUZZ_PROCESSES ?? 5),
  }
  return {
    test: {
      projects: [
        { test: { ...common, name: 'isolated', include: [...isolatedFiles], exclude } },
        {
          test: {
            ...common,
            name: 'shared',
            // Loading the source takes longer than the tests of most files, so a worker loads it once.
            isolate: false,
            include: ['test/**/*.test.ts'],
            exclude: [...exclude, ...isolatedFiles],
          },
        },
      ],
      sequence: { sequencer: SlowFirst },
      // Time for a process of tests to end.
      teardownTimeout: 60_000,
      reporters: ['default', new SkipReporter()],
      globalSetup: ['test/helpers/global-setup.ts'],
      // Processes that tests start are not counted, such as the built service, scripts and replicas.
      coverage: {
        provider: 'v8',
        include: ['src/**/*.ts', 'exporter/**/*.ts'],
        // They run in the browser.
        exclude: ['src/web/client/**'],
        reporter: ['text-summary', 'json-summary', 'json'],
        reportsDirectory: 'node_modules/.cache/coverage',
        thresholds: { lines: 92, 'src/game/protocol/**': { lines: 97 } },
      },
    },
  }
})
