import { invalidParameter } from '../../src/errors.ts'
import { shown } from '../../src/http/parameters.ts'

/** Prometheus gives up at its own timeout: the reply must have arrived by then. */
const margin = 500
const shortest = 50
const longest = 10_000

/**
 * Milliseconds that a probe may take.
 * @param header X-Prometheus-Scrape-Timeout-Seconds
 * @param otherwise milliseconds without the header
 * @throws RequestError INVALID_PARAMETER
 */
export function probeTimeout(header: string | readonly string[] | undefined, otherwise: number): number {
  if (header === undefined) return Math.min(longest, otherwise)
  const seconds = typeof header === 'string' && /^\d{1,6}(\.\d{1,9})?$/.test(header) ? Number(header) : Number.NaN
  if (!(seconds > 0)) {
    const given = shown(String(header))
    throw invalidParameter(`The header X-Prometheus-Scrape-Timeout-Seconds is ${given}; expected a number of seconds above 0.`)
  }
  return Math.min(longest, Math.max(shortest, seconds * 1000 - margin))
}
