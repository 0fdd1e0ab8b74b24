import { vi } from 'vitest'
import { runProgram } from '../../src/commands/program.ts'

/**
 * Runs a command line as the process does, but in this one, which has loaded the source already. Not for commands that last until a
 * signal. One at a time: what the process prints in between is taken for its output.
 * @param cwd working directory; default: that of the test
 */
export async function callProgram(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  cwd = process.cwd(),
) {
  let [out, err] = ['', '']
  const before = process.cwd()
  const signals = ['SIGINT', 'SIGTERM'] as const
  const handlers = signals.map((signal) => process.listeners(signal))
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const printed = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += chunk
    return true
  })
  const failed = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    err += chunk
    return true
  })
  const logged = vi.spyOn(console, 'log').mockImplementation((line) => void process.stdout.write(`${line}\n`))
  const errors = vi.spyOn(console, 'error').mockImplementation((line) => void process.stderr.write(`${line}\n`))
  process.chdir(cwd)
  try {
    return { code: await runProgram(args), out, err }
  } finally {
    process.chdir(before)
    vi.unstubAllEnvs()
    for (const spy of [printed, failed, logged, errors]) spy.mockRestore()
    for (const [index, signal] of signals.entries())
      for (const handler of process.listeners(signal)) if (!handlers[index]?.includes(handler)) process.off(signal, handler)
  }
}
