import { Cron } from 'croner'
import type { Kind } from '../../settings/kinds/kind.ts'

/** A cron expression (UTC) or `off` by script; other scripts keep their default. */
export type Schedule = Readonly<Record<string, string>>

const isCron = (given: string): boolean => {
  try {
    // The parser accepts 30 February, which never occurs.
    return new Cron(given, { paused: true, timezone: 'UTC' }).nextRun() !== null
  } catch {
    return false
  }
}

export const schedule = (scripts: readonly string[]): Kind<Schedule> => ({
  example: 'off',
  expected: `"off", one cron expression for all scripts, or "<script>=<cron expression or off>" separated by ";" (scripts: ${scripts.join(', ')})`,
  parse(given) {
    const valid = (expression: string) => expression === 'off' || isCron(expression)
    if (!given.includes('='))
      return valid(given.trim()) ? Object.fromEntries(scripts.map((name) => [name, given.trim()])) : undefined
    const entries = given.split(';').flatMap((part) => (part.trim() === '' ? [] : [part.split('=').map((side) => side.trim())]))
    const fits = entries.every(
      ([name, expression, more]) => scripts.includes(name ?? '') && valid(expression ?? '') && more === undefined,
    )
    return fits ? Object.fromEntries(entries) : undefined
  },
})
