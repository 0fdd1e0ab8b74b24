import type { Kind } from '../settings/kinds/index.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Call } from './command.ts'

/**
 * The value of a flag, or its default.
 * @throws UsageError that names the flag, its value and the expected values
 */
export function flagValue<T>({ command, flags }: Pick<Call, 'command' | 'flags'>, name: string, kind: Kind<T>): T {
  const text = flags[name] ?? command.flags.find((flag) => flag.name === name)?.default ?? ''
  const value = typeof text === 'string' ? kind.parse(text) : undefined
  if (value === undefined) throw new UsageError(`--${name} is ${JSON.stringify(text)}; expected ${kind.expected}`)
  return value
}
