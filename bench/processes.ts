import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { endWithParent } from './wait.ts'

/** Options of Node.js for the measured service: those of `npm start`, and further ones, such as `--cpu-prof`. */
const serviceOptions = ['--v8-pool-size=1', ...(process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean)]

/** @param path relative to this folder */
const start = (path: string, args: readonly string[], execArgv: readonly string[]): ChildProcess =>
  endWithParent(fork(fileURLToPath(new URL(path, import.meta.url)), args, { execArgv: [...execArgv] }))

/** Starts a process beside the service from a JavaScript file: without tsx, which takes a second. */
export const startScript = (path: string): ChildProcess => start(path, [], [])

/** Starts the measured service. */
export const startService = (path: string): ChildProcess => start(path, [], serviceOptions)

/**
 * Starts what runs on other machines outside of a benchmark. It must not take processor time from the service, and from this process,
 * which measures how fast the service replies.
 */
export function startOther(path: string, args: readonly string[] = []): ChildProcess {
  const child = start(path, args, process.execArgv)
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  return child
}
