import type { Fleet } from '../game/fleet.ts'
import { addressOf, type ServerSettings } from '../game/server-settings.ts'
import { currentFields, isAsleep, ongoingWorldUpgrade, type ServerSnapshot } from '../game/snapshot.ts'
import { createEventHub, type EventHub } from '../live/hub.ts'
import { downReason, stateOf } from '../live/state.ts'
import { formatHostPort } from '../util/address.ts'
import type { Clock } from '../util/clock.ts'
import type { MaintenanceOf, SnapshotOrder } from '../util/part-metrics.ts'
import type { PageServer } from './view/types.ts'

export interface PageServerOptions {
  /** False: without addresses, player names and sources. */
  readonly isPublic: boolean
  /**
   * True: what the page of all servers shows, without lists of players, and with numbers that change only if the shown ones do.
   * Default: false.
   */
  readonly isOverview?: boolean
  /** Default: no server is in maintenance. */
  readonly maintenanceOf?: MaintenanceOf
}

const threeDigits = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(3)))
const shownLatency = (ms: number | null): number | null =>
  ms === null ? null : ms < 9.95 ? Number(ms.toFixed(1)) : Math.round(ms)

/** The settings of a server; those of one that was just removed have only its name. */
export const settingsOf = (fleet: Fleet, server: string): ServerSettings =>
  fleet.settingsOf(server) ?? { name: server, sources: {} }

/** What the page shows of a server, as it is also sent with events. */
function pageState(
  settings: ServerSettings,
  snapshot: ServerSnapshot,
  { isPublic, isOverview = false, maintenanceOf = () => null }: PageServerOptions,
) {
  const state = stateOf(snapshot, maintenanceOf(snapshot.server))
  const fields = currentFields(snapshot)
  const upgrade = ongoingWorldUpgrade(snapshot)
  const address = addressOf(settings)
  return {
    group: settings.group ?? null,
    address: isPublic && address !== undefined ? formatHostPort(address) : null,
    ...state,
    players: isPublic && !isOverview ? state.players : null,
    ...(isOverview && {
      tickRate: threeDigits(state.tickRate),
      tickTimeMean: threeDigits(state.tickTimeMean),
      tickTimeP99: threeDigits(state.tickTimeP99),
      latency: shownLatency(state.latency),
    }),
    formattedMotd: fields.formattedMotd?.value || null,
    sprinting: fields.tickSprinting?.value ?? null,
    asleep: isAsleep(snapshot) ?? null,
    worldUpgrade: upgrade === undefined || upgrade.state === 'finished' ? null : upgrade.state,
    worldUpgradeProgress: upgrade?.progress ?? null,
    tickRateTarget: fields.tickRateTarget?.value || null,
    error: state.up === false ? downReason(snapshot) : null,
    failing:
      isPublic && state.up === true
        ? snapshot.sources.flatMap(({ source, error, state }) =>
            state === 'failed' && error ? [{ source, error: error.code }] : [],
          )
        : [],
  }
}

/** Without players, of which the page of a server lists some. */
export function toPageServer(settings: ServerSettings, snapshot: ServerSnapshot, options: PageServerOptions): PageServer {
  const { error, ...state } = pageState(settings, snapshot, options)
  const { lastContact } = snapshot
  return {
    name: settings.name,
    state: { ...state, players: null },
    error,
    lastContact: lastContact === undefined ? null : Math.round(lastContact.wall),
  }
}

export interface PageEventsOptions extends Required<PageServerOptions> {
  readonly fleet: Fleet
  readonly clock: Clock
  /** Maximum number of clients. */
  readonly maxClients: number
  /** See `EventHubOptions`. */
  readonly order?: SnapshotOrder | undefined
}

/** The events of the page, which have more values than those of the API, or fewer if the page is not public. */
export const createPageEvents = ({ fleet, clock, maxClients, order, ...options }: PageEventsOptions): EventHub =>
  createEventHub(fleet, clock, maxClients, {
    toState: (snapshot) => pageState(settingsOf(fleet, snapshot.server), snapshot, options),
    listsServers: true,
    // The page of a server shows the first players of the list, and loads them again after many changes.
    maxPlayerEvents: 3,
    ...(order && { order }),
  })
