import type { TickTimes } from '../../protocol/jolokia.ts'
import type { MainThreadActivity } from '../source.ts'

/** Milliseconds between two ticks of a server that runs one tick per second, the lowest rate, with a tolerance. */
const minPauseMs = 1_100
/** A tick may take this many times as long as the longest of the last 100. */
const maxTickFactor = 2

/** The ring of the durations of the last 100 ticks. Each tick changes it: a ring that does not change shows that no tick was run. */
export function createTickRing() {
  let ring: string | undefined
  let [changedAt, readAt, lateAfterMs] = [0, 0, 0]
  /** A change was seen: before that, the ring may be as old as the server. */
  let hasTicked = false

  /** The next ring is not compared with earlier ones. */
  function forget(): void {
    ring = undefined
    hasTicked = false
  }

  return {
    /**
     * @param at monotonic milliseconds
     * @returns whether the durations are current: the ring is new, or a tick may still be running
     */
    read(ticks: TickTimes | undefined, at: number): boolean {
      if (ticks === undefined) {
        forget()
        return false
      }
      readAt = at
      if (ticks.ring !== ring) {
        hasTicked = ring !== undefined
        ring = ticks.ring
        changedAt = at
        lateAfterMs = Math.max(minPauseMs, maxTickFactor * ticks.max * 1_000)
      }
      return at - changedAt <= lateAfterMs
    },
    forget,
    activity(): MainThreadActivity {
      if (ring === undefined) return {}
      const waiting = { waitingSince: changedAt, lastSentAt: readAt, lateAfterMs, showsTicks: true } as const
      return { ...(hasTicked && { answeredAt: changedAt }), ...(readAt > changedAt && waiting) }
    },
  }
}
