import { toInteger } from './decimal.ts'

/** Which words the server knows: `classic` to 1.21.11 (`daytime`, `day`), `clocks` from 26.1 (`time`, `day repetition`). */
export type TimeForm = 'classic' | 'clocks'

export interface GameTime {
  /** The world's age in ticks. */
  readonly ticks: number
  readonly form: TimeForm
}

const dayLength = 24_000

// To 1.12 `Time is N`.
const classic = (reply: string): number | undefined => toInteger(/^(?:The time|Time) is (\d+)$/.exec(reply)?.[1])

/** Reply to `time query gametime`; undefined for another text, or a number past 2^53. */
export function parseGameTime(reply: string): GameTime | undefined {
  const old = classic(reply)
  if (old !== undefined) return { ticks: old, form: 'classic' }
  const ticks = toInteger(/^The game time is (\d+) tick(?:\(s\)|s)?$/.exec(reply)?.[1])
  return ticks === undefined ? undefined : { ticks, form: 'clocks' }
}

/** Reply to `time query daytime` (to 1.21.11) or `time query time` (from 26.1), as 0 to 23,999 ticks; undefined for another text. */
export function parseTimeOfDay(reply: string): number | undefined {
  const old = classic(reply)
  // The game gives the time of day already reduced; a larger number is the answer to something else.
  if (old !== undefined) return old < dayLength ? old : undefined
  const clock = toInteger(/^Clock minecraft:overworld is at (\d+) tick(?:\(s\)|s)?$/.exec(reply)?.[1])
  return clock === undefined ? undefined : clock % dayLength
}

/** Reply to `time query day` (to 1.21.11) or `time query day repetition` (from 26.1), in days; undefined for another text. */
export function parseDay(reply: string): number | undefined {
  return classic(reply) ?? toInteger(/^Timeline minecraft:day has passed (\d+) repetition(?:\(s\)|s)?$/.exec(reply)?.[1])
}
