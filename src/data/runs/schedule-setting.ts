import { Cron } from 'croner'
import type { Kind } from '../../settings/kinds/kind.ts'

/** A cron expression (UTC) or `off` by script; other scripts keep their default. */
export type Schedule = Readonly<Record<string, string>>

/**
 * The next time of a cron expression, Unix milliseconds; undefined if it never occurs, such as 30 February.
 * @param after Unix milliseconds
 * @throws Error if it is not valid
 */
export const nextTime = (cron: string, after: number): number | undefined =>
  new Cron(cron, { timezone: 'UTC' }).nextRun(new Date(after))?.getTime()

function isCron(given: string): boolean {
  try {
    return nextTime(given, Date.now()) !== undefined
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
