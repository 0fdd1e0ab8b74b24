import { toInteger } from '../decimal.ts'

/** The arguments that the server supports: `classic` up to 1.21.11 (`daytime`, `day`), `clocks` since 26.1 (`time`, `day repetition`). */
export type TimeForm = 'classic' | 'clocks'

export interface GameTime {
  /** The world's age in ticks. */
  readonly ticks: number
  readonly form: TimeForm
}

const dayLength = 24_000

// Up to 1.12 `Time is N`.
const classic = (reply: string): number | undefined => toInteger(/^(?:The time|Time) is (\d+)$/.exec(reply)?.[1])

/** Parses the reply to `time query gametime`; undefined for any other text, or a number above 2^53 - 1. */
export function parseGameTime(reply: string): GameTime | undefined {
  const old = classic(reply)
  if (old !== undefined) return { ticks: old, form: 'classic' }
  const ticks = toInteger(/^The game time is (\d+) tick(?:\(s\)|s)?$/.exec(reply)?.[1])
  return ticks === undefined ? undefined : { ticks, form: 'clocks' }
}

/**
 * Parses the reply to `time query daytime` (up to 1.21.11) or `time query time` (since 26.1) to 0 to 23,999 ticks; undefined for any
 * other text.
 */
export function parseTimeOfDay(reply: string): number | undefined {
  const old = classic(reply)
  // The game sends the time modulo the day length; a larger number is the reply to another command.
  if (old !== undefined) return old < dayLength ? old : undefined
  const clock = toInteger(/^Clock minecraft:overworld is at (\d+) tick(?:\(s\)|s)?$/.exec(reply)?.[1])
  return clock === undefined ? undefined : clock % dayLength
}

/**
 * Parses the reply to `time query day` (up to 1.21.11) or `time query day repetition` (since 26.1), in days; undefined for any other
 * text.
 */
export function parseDay(reply: string): number | undefined {
  return classic(reply) ?? toInteger(/^Timeline minecraft:day has passed (\d+) repetition(?:\(s\)|s)?$/.exec(reply)?.[1])
}
