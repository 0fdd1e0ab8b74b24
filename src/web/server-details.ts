import { currentFields } from '../game/current-fields.ts'
import { addressOf, type ServerSettings } from '../game/server-settings.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { History } from '../history/history.ts'
import { seriesNames } from '../history/values/series.ts'
import { toPlayers } from '../http/to-players.ts'
import { wallOf } from '../live/state.ts'
import { defaultPorts, formatHostPort, type HostPort } from '../util/address.ts'
import type { Clock } from '../util/clock.ts'
import type { PageHistory } from './page-history.ts'
import { sourceHints, sourceRows } from './page-sources.ts'
import { chartSeries } from './view/charts.ts'
import { maxListed } from './view/players.ts'
import type { FieldTexts } from './view/texts/en.ts'
import type { ChartName, FoundPlayers, ListedPlayer, PageServer, ServerDetails, Session, WeekOfPlayers } from './view/types.ts'

const dayMs = 86_400_000
const tenMinutes = 600_000
/** Maximum number of past visits sent. */
const maxVisits = 40

export interface ServerDetailsOptions {
  readonly history: History
  readonly past: PageHistory
  readonly clock: Clock
  readonly isPublic: boolean
  readonly metricsListen?: HostPort | undefined
  readonly settingsOf: (watcher: Watcher) => ServerSettings
  readonly pageServer: (watcher: Watcher) => PageServer
}

/** What the page of one server shows. */
export class ServerPages {
  readonly #options: ServerDetailsOptions

  constructor(options: ServerDetailsOptions) {
    this.#options = options
  }

  async details(watcher: Watcher, fieldTexts?: FieldTexts): Promise<ServerDetails> {
    const { past, clock, isPublic, metricsListen, settingsOf, pageServer } = this.#options
    const [{ sessions, ...recorded }, charts] = await Promise.all([
      past.details(watcher.server, isPublic),
      this.#charts(watcher.server),
    ])
    const snapshot = watcher.snapshot()
    const settings = settingsOf(watcher)
    const server = pageServer(watcher)
    const players = isPublic ? playersOf(snapshot) : null
    const byState = (isOnline: boolean, max: number) =>
      (sessions ?? []).filter((session) => session.isOnline === isOnline).slice(0, max)
    return {
      ...recorded,
      server: { ...server, state: { ...server.state, players: players && newestFirst(players, sessions).slice(0, maxListed) } },
      listed: players && { total: players.length, at: wallOf(snapshot, clock) },
      sessions: sessions && [...byState(true, maxListed), ...byState(false, maxVisits)],
      join: isPublic ? joinOf(settings) : null,
      charts,
      sources: isPublic ? sourceRows(snapshot) : null,
      hints: isPublic ? sourceHints(snapshot, settings, fieldTexts) : null,
      metricsListen: isPublic && metricsListen !== undefined ? formatHostPort(metricsListen) : null,
    }
  }

  /** The players online whose name contains a text; undefined if the page hides names or no source has the full list. */
  findPlayers(watcher: Watcher, text: string): FoundPlayers | undefined {
    const players = this.#options.isPublic ? playersOf(watcher.snapshot()) : null
    const wanted = text.toLowerCase()
    const found = players?.filter(({ NAME }) => NAME.toLowerCase().includes(wanted))
    return found && { players: found.slice(0, maxListed), total: found.length }
  }

  /** The numbers of players of the last seven days. */
  async week(watcher: Watcher): Promise<WeekOfPlayers> {
    const query = { names: ['players'], range: 7 * dayMs, points: (7 * dayMs) / tenMinutes } as const
    const { from, step, series } = await this.#options.history.range(watcher.server, query)
    const round = (value: number | null) => value && Math.round(value * 10) / 10
    return { from, step, players: (series.players?.mean ?? []).map(round) }
  }

  /** The charts that have values of the last 24 hours: the others are not shown. */
  async #charts(server: string): Promise<readonly ChartName[]> {
    // Ten-minute values, which are stored for times of more than a day.
    const query = { names: seriesNames, range: 2 * dayMs, points: (2 * dayMs) / tenMinutes }
    const { series } = await this.#options.history.range(server, query)
    const hasValues = (name: ChartName) =>
      chartSeries[name].some((of) => series[of]?.mean.slice(-dayMs / tenMinutes).some((value) => value !== null))
    return (Object.keys(chartSeries) as ChartName[]).filter(hasValues)
  }
}

/** Null if no source has the full list. */
function playersOf(snapshot: ServerSnapshot): readonly ListedPlayer[] | null {
  const list = currentFields(snapshot).players?.value
  return list?.complete ? toPlayers(list.players) : null
}

/** @param sessions newest first */
function newestFirst(players: readonly ListedPlayer[], sessions: readonly Session[] | null): readonly ListedPlayer[] {
  const order = new Map((sessions ?? []).flatMap(({ player, isOnline }, index) => (isOnline ? [[player.NAME, index]] : [])))
  const position = ({ NAME }: ListedPlayer) => order.get(NAME) ?? order.size + 1_000
  return players.toSorted((a, b) => position(a) - position(b))
}

/** The address that players enter, without the port that the game assumes. */
export function joinOf(settings: ServerSettings | undefined): ServerDetails['join'] {
  const address = settings && addressOf(settings)
  if (address === undefined) return null
  const { edition, port } = address
  const text = formatHostPort(address)
  return { edition, address: edition === 'java' && port === defaultPorts.java ? text.slice(0, -`:${port}`.length) : text }
}
