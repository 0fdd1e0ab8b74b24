import type { Fields } from '../../fields.ts'
import type { WorldUpgrade } from '../../protocol/management.ts'
import type { FieldTimes, Reading, SourceContext } from '../source.ts'

/** Minimum milliseconds between two pushed readings. */
const spacingMs = 50

/** Fields with the times at which they were read. */
export interface TimedFields {
  readonly fields: Partial<Fields>
  readonly readAt: FieldTimes
}

/** Pushes the events of a server. Events that arrive in quick succession are combined into one reading. */
export class EventPusher {
  readonly #context: Pick<SourceContext, 'clock' | 'push'>
  readonly #players: () => TimedFields
  #unpushed: Partial<Fields> = {}
  #havePlayersChanged = false
  #lastPush = Number.NEGATIVE_INFINITY
  #upgradeState: WorldUpgrade['state'] | undefined
  #cancel: (() => void) | undefined
  #closed = false

  /** @param players called once per push, not for each event */
  constructor(context: Pick<SourceContext, 'clock' | 'push'>, players: () => TimedFields) {
    this.#context = context
    this.#players = players
  }

  /**
   * Pushes the fields immediately, or when `spacingMs` have passed since the last push.
   * @param havePlayersChanged whether the reading includes the players
   */
  push(fields: Partial<Fields>, havePlayersChanged = false): void {
    const { clock } = this.#context
    this.#unpushed = { ...this.#unpushed, ...fields }
    this.#havePlayersChanged ||= havePlayersChanged
    if (this.#closed || this.#cancel !== undefined) return
    const waitMs = this.#lastPush + spacingMs - clock.now()
    if (waitMs <= 0) this.#send()
    else this.#cancel = clock.after(waitMs, () => this.#send())
  }

  /** Pushes the state of a world upgrade, of a server that is not up yet. Progress is dropped if it arrives too fast. */
  pushUpgrade(worldUpgrade: WorldUpgrade | undefined): void {
    if (worldUpgrade === undefined || this.#closed) return
    const isChange = worldUpgrade.state !== this.#upgradeState
    if (!isChange && this.#context.clock.now() < this.#lastPush + spacingMs) return
    this.#upgradeState = worldUpgrade.state
    this.#pass({ fields: { worldUpgrade }, isStarting: true })
  }

  close(): void {
    this.#closed = true
    this.#cancel?.()
  }

  #send(): void {
    const { fields = {}, readAt = {} } = this.#havePlayersChanged ? this.#players() : {}
    const reading = { fields: { ...this.#unpushed, ...fields }, readAt }
    this.#unpushed = {}
    this.#havePlayersChanged = false
    this.#cancel = undefined
    this.#pass(reading)
  }

  #pass(reading: Omit<Reading, 'source' | 'at'>): void {
    const at = this.#context.clock.now()
    this.#lastPush = at
    this.#context.push({ source: 'management', at, ...reading })
  }
}
