import type { Kind } from '../settings/kinds/index.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Command, FlagValues } from './command.ts'

/**
 * The value of a flag, or its default.
 * @throws UsageError that names the flag, its value and the expected values
 */
export function flagValue<T>({ flags }: Command, values: FlagValues, name: string, kind: Kind<T>): T {
  const text = values[name] ?? flags.find((flag) => flag.name === name)?.default ?? ''
  const value = typeof text === 'string' ? kind.parse(text) : undefined
  if (value === undefined) throw new UsageError(`--${name} is ${JSON.stringify(text)}; expected ${kind.expected}`)
  return value
}
