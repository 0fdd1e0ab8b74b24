import type { Fields, WorldUpgrade } from '../../fields.ts'
import type { SourceName } from '../names.ts'
import type { FieldTimes, SourceContext } from '../source.ts'

/** Minimum milliseconds between two pushed readings. */
const spacingMs = 50

/** Fields with the times at which they were read. */
export interface TimedFields {
  readonly fields: Partial<Fields>
  readonly readAt: FieldTimes
}

/** Pushes the events of a server. Events that arrive in quick succession are combined into one reading. */
export interface EventPusher {
  /**
   * Pushes the fields immediately, or when `spacingMs` have passed since the last push.
   * @param havePlayersChanged whether the reading includes the players
   */
  push(fields: Partial<Fields>, havePlayersChanged?: boolean): void
  /** Pushes the state of a world upgrade, of a server that is not up yet. Progress is dropped if it arrives too fast. */
  pushUpgrade(upgrade: WorldUpgrade | undefined): void
  close(): void
}

export interface EventPusherOptions extends Pick<SourceContext, 'clock' | 'push'> {
  readonly source: SourceName
  /** Called once per push, not for each event. */
  readonly players: () => TimedFields
}

export function createEventPusher({ source, clock, push, players }: EventPusherOptions): EventPusher {
  let unpushed: Partial<Fields> = {}
  let havePlayersChanged = false
  let lastPush = Number.NEGATIVE_INFINITY
  let upgradeState: WorldUpgrade['state'] | undefined
  let cancel: (() => void) | undefined
  let closed = false

  function send(): void {
    const { fields = {}, readAt = {} } = havePlayersChanged ? players() : {}
    const reading = { source, at: clock.now(), fields: { ...unpushed, ...fields }, readAt }
    unpushed = {}
    havePlayersChanged = false
    cancel = undefined
    if (closed) return
    lastPush = clock.now()
    push(reading)
  }

  return {
    push(fields, withPlayers = false) {
      unpushed = { ...unpushed, ...fields }
      havePlayersChanged ||= withPlayers
      if (cancel !== undefined) return
      const waitMs = lastPush + spacingMs - clock.now()
      if (waitMs <= 0) send()
      else cancel = clock.after(waitMs, send)
    },
    pushUpgrade(worldUpgrade) {
      if (worldUpgrade === undefined || closed) return
      const isChange = worldUpgrade.state !== upgradeState
      if (!isChange && clock.now() < lastPush + spacingMs) return
      upgradeState = worldUpgrade.state
      lastPush = clock.now()
      push({ source, at: clock.now(), fields: { worldUpgrade }, isStarting: true })
    },
    close() {
      closed = true
      cancel?.()
    },
  }
}
