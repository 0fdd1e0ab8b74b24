import type { HttpReply } from '../../util/http-client.ts'
import { clampWait } from './waits.ts'

type Headers = HttpReply['headers']

const decimal = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,300}(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined

/** Whether a text has the form of an HTTP date: Date.parse() accepts `-5` as a month. */
const isDate = (text: string): boolean => /^[A-Z][a-z]{2,8},? /.test(text.trim())

/** Milliseconds to wait by `Retry-After`: seconds or an HTTP date. Undefined if it is missing, not valid or in the past. */
function readRetryAfter(headers: Headers, wall: number): number | undefined {
  const text = headers['retry-after']
  const seconds = decimal(text)
  if (seconds !== undefined) return clampWait(seconds * 1000)
  const waitMs = text !== undefined && isDate(text) ? Date.parse(text) - wall : Number.NaN
  return waitMs > 0 ? clampWait(waitMs) : undefined
}

/** Milliseconds until the limit is reset; undefined if the header is missing, not valid or in the past. */
function readReset(headers: Headers, wall: number): number | undefined {
  const reset = decimal(headers['x-ratelimit-reset'])
  if (reset === undefined) return undefined
  // Reddit sends seconds from now, GitHub Unix seconds, others Unix milliseconds.
  const waitMs = reset < 1e9 ? reset * 1000 : (reset < 1e11 ? reset * 1000 : reset) - wall
  return waitMs > 0 ? clampWait(waitMs) : undefined
}

/**
 * Reads `Retry-After`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`. Every wait is at most a day.
 * @param wall Unix milliseconds at which the reply arrived
 */
export function readRateLimit(status: number, headers: Headers, wall: number) {
  const remaining = decimal(headers['x-ratelimit-remaining'])
  const isUsedUp = remaining !== undefined && remaining < 1
  const resetMs = isUsedUp ? readReset(headers, wall) : undefined
  const afterMs = readRetryAfter(headers, wall)
  const isExceeded = status === 429 || (status === 403 && (isUsedUp || afterMs !== undefined))
  return {
    isExceeded,
    /** Milliseconds until the limit is reset, if no request remains; undefined if some remain or the time is unknown. */
    resetMs,
    /** Milliseconds before a retry: from Retry-After, else until the reset; undefined if neither is valid. */
    retryMs: afterMs ?? resetMs,
  }
}
