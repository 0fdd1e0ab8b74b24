import { shown } from '../../src/http/parameters.ts'
import { invalidParameter } from '../../src/util/errors.ts'

/** The reply must arrive before the timeout of Prometheus. At most half of a short timeout is kept for that. */
const marginMs = 500
const maxTimeoutMs = 10_000

/**
 * Returns how many milliseconds the reply to a scrape may take; undefined if the scraper does not say.
 * @param header X-Prometheus-Scrape-Timeout-Seconds
 * @throws RequestError INVALID_PARAMETER
 */
export function scrapeTimeout(header: string | readonly string[] | undefined): number | undefined {
  if (header === undefined) return undefined
  const seconds = typeof header === 'string' && /^\d{1,6}(\.\d{1,9})?$/.test(header) ? Number(header) : Number.NaN
  if (!(seconds > 0)) {
    const given = shown(String(header))
    throw invalidParameter(`The header X-Prometheus-Scrape-Timeout-Seconds is ${given}; expected a number of seconds above 0.`)
  }
  return Math.max(seconds * 500, seconds * 1000 - marginMs)
}

/**
 * Returns how many milliseconds a probe may take.
 * @param header X-Prometheus-Scrape-Timeout-Seconds
 * @param defaultMs used without the header
 * @throws RequestError INVALID_PARAMETER
 */
export const probeTimeout = (header: Parameters<typeof scrapeTimeout>[0], defaultMs: number): number =>
  Math.min(maxTimeoutMs, scrapeTimeout(header) ?? defaultMs)
