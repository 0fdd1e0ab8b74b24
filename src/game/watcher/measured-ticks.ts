import type { Fields } from '../fields.ts'
import type { KnownField, KnownFields } from '../snapshot.ts'
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
  #version: KnownField<string> | undefined
  #startupDuration: KnownField<number> | undefined

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
    const isOther = isDifferent(this.#version, version) || isDifferent(this.#startupDuration, startupDuration)
    this.#version = version ?? this.#version
    this.#startupDuration = startupDuration ?? this.#startupDuration
    if (isOther) this.clear()
  }
}

/** Values of two sources may differ without a change of the server: a proxy sends its own version. */
const isDifferent = <T>(before: KnownField<T> | undefined, now: KnownField<T> | undefined): boolean =>
  before !== undefined && now?.source === before.source && before.value !== now.value
