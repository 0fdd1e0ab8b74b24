import type { Clock } from '../../clock.ts'
import { pulseMs } from './messages.ts'

/** Pulses that may be missing before the primary process counts as unresponsive. */
const maxMissingPulses = 5

/** Whether the primary process of a worker responds. */
export interface PrimaryState {
  /** False if the primary process has sent nothing for several seconds: it hangs, or is suspended. */
  readonly isResponsive: boolean
  /** Aborted when the primary process becomes unresponsive; a new signal once it responds again. */
  readonly unresponsive: AbortSignal
}

/** Detects that the primary process has become silent. */
export interface SilenceDetector extends PrimaryState {
  /** To be called for each message of the primary process. */
  heard(): void
  close(): void
}

/** @param onChange called when the primary process becomes unresponsive, and when it responds again */
export function createSilenceDetector(clock: Clock, onChange: (isResponsive: boolean) => void): SilenceDetector {
  let missing = 0
  let abort = new AbortController()
  let cancel = () => {}

  /** Counts its own turns instead of measuring the time, because the worker itself may have been suspended. */
  function check(): void {
    missing++
    if (missing > maxMissingPulses && !abort.signal.aborted) {
      abort.abort(new Error('the primary process does not respond'))
      onChange(false)
    }
    cancel = clock.after(pulseMs, check)
  }

  check()
  return {
    get isResponsive() {
      return !abort.signal.aborted
    },
    get unresponsive() {
      return abort.signal
    },
    heard() {
      missing = 0
      if (!abort.signal.aborted) return
      abort = new AbortController()
      onChange(true)
    },
    close: () => cancel(),
  }
}
