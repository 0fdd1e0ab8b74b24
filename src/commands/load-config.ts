import { type Config, ConfigError, type ConfigInput, loadConfig } from '../config/config.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Call } from './command.ts'

type Input = Pick<ConfigInput, 'watches' | 'flags'>

/** How the configuration of a command is read. @param path of the config file, if known */
export function inputOf({ flags, settings }: Call, { flags: given = {}, ...input }: Input = {}, path?: string): ConfigInput {
  const file = path ?? flags.config
  return { ...input, flags: { ...settings, ...given }, ...(typeof file === 'string' && { file }) }
}

/**
 * Reads the settings of a command.
 * @throws UsageError that lists every wrong setting
 */
export function configOf(call: Call, input: Input = {}): Config {
  try {
    return loadConfig(inputOf(call, input))
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(describeProblems(error))
    throw error
  }
}

export function describeProblems({ problems }: ConfigError): string {
  const count = problems.length === 1 ? 'One setting is' : `${problems.length} settings are`
  return `${count} wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\n--help all lists all settings.`
}
