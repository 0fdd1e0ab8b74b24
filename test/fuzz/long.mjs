// Runs the fuzz tests for long: each reader gets 100,000 inputs, or FUZZ_RUNS; FUZZ_SEED repeats a run. What fails is added to test/fuzz/corpus.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
const env = { FUZZ_RUNS: '100000', FUZZ_PROCESSES: '16', FUZZ_KEEP: '1', ...process.env }
const [, , ...files] = process.argv
const args = ['run', '--testTimeout', '86400000', ...(files.length > 0 ? files : ['test/fuzz'])]
process.exitCode = spawnSync(process.execPath, [vitest, ...args], { env, stdio: 'inherit' }).status ?? 1
