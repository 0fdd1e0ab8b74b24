import { ConfigError, type ConfigInput, loadConfig } from '../../src/config/config.ts'

/** The mistakes that are found in the configuration; none if it is valid. */
export function configProblems(input: ConfigInput): readonly string[] {
  try {
    loadConfig(input)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
