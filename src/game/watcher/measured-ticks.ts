import type { Fields } from '../fields.ts'
import type { KnownFields } from '../snapshot.ts'
import type { Reading } from '../sources/source.ts'
import { TickRateMeter } from './tick-rate.ts'

type Measured = Pick<Reading, 'source' | 'fields'>

/** Measures the tick rate of one server from its merged fields. */
export class MeasuredTicks {
  /** Created for the first counter: most servers have no source of it. */
  #meter: TickRateMeter | undefined
  #connection: object | undefined
  #counted: Fields['tickCount'] | undefined
  #measured: Measured | undefined
  /** Distinguish runs of a server that closes the connection after each reply. */
  #version: string | undefined
  #startupDuration: number | undefined

  /** Adds the tick counter, unless it is the same as in the previous call. */
  measure(fields: KnownFields): Measured | undefined {
    const { tickCount, playersOnline, tickFrozen, tickSprinting, tickRateTarget } = fields
    this.#compareRun(fields)
    if (tickCount === undefined) this.clear()
    else if (tickCount.value !== this.#counted) {
      this.#counted = tickCount.value
      this.#meter ??= new TickRateMeter()
      this.#measured = {
        source: tickCount.source,
        fields: this.#meter.add({
          ...tickCount.value,
          playersOnline: playersOnline?.value,
          frozen: tickFrozen?.value,
          sprinting: tickSprinting?.value,
          target: tickRateTarget?.value,
        }),
      }
    }
    return this.#measured
  }

  /** The next counter is not compared with earlier ones: the server may have been restarted or replaced in between. */
  interrupt(): void {
    this.#meter?.interrupt()
  }

  /** As `interrupt`, if the tick counter was last read over another connection. */
  readOver(connection: object | undefined): void {
    if (connection !== this.#connection) this.interrupt()
    this.#connection = connection
  }

  /** As `interrupt`, and what was measured is no longer valid. */
  clear(): void {
    this.interrupt()
    this.#measured = undefined
  }

  #compareRun({ version, startupDuration }: KnownFields): void {
    const isOther = isDifferent(this.#version, version?.value) || isDifferent(this.#startupDuration, startupDuration?.value)
    this.#version = version?.value ?? this.#version
    this.#startupDuration = startupDuration?.value ?? this.#startupDuration
    if (isOther) this.clear()
  }
}

const isDifferent = <T>(before: T | undefined, now: T | undefined): boolean =>
  before !== undefined && now !== undefined && before !== now
