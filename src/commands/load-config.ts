import { type Config, ConfigError, type ConfigInput, loadConfig } from '../config/config.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Call } from './command.ts'

type Input = Pick<ConfigInput, 'watches' | 'flags'>

/** How the configuration of a command is read. */
export const inputOf = ({ flags: { config: file }, settings }: Call, { flags = {}, ...input }: Input = {}): ConfigInput => ({
  ...input,
  flags: { ...settings, ...flags },
  ...(typeof file === 'string' && { file }),
})

/**
 * Reads the settings of a command.
 * @throws UsageError that lists every wrong setting
 */
export function configOf(call: Call, input: Input = {}): Config {
  try {
    return loadConfig(inputOf(call, input))
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(describeProblems(error.problems))
    throw error
  }
}

/** The message for wrong settings, which names each of them. */
export function describeProblems(problems: readonly string[]): string {
  const count = problems.length === 1 ? 'One setting is' : `${problems.length} settings are`
  return `${count} wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\n--help all lists all settings.`
}
