import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    globalSetup: ['test/helpers/global-setup.ts'],
    // They end a vain wait, and are no measure of anything: a busy machine may take a while.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Real sockets and child processes: more workers than cores only make each other late.
    maxWorkers: 2,
  },
})
