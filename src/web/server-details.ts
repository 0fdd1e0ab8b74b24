import { type FieldName, fieldDescriptions } from '../game/fields.ts'
import type { Fleet } from '../game/fleet.ts'
import { addressOf, type ServerSettings } from '../game/server-settings.ts'
import { nameSettings } from '../game/setting-names.ts'
import { currentFields, type ServerSnapshot } from '../game/snapshot.ts'
import { sources } from '../game/sources/index.ts'
import type { SourceDescriptor } from '../game/sources/source.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { History } from '../history/history.ts'
import { isOngoing } from '../history/incidents.ts'
import { dayMs } from '../history/values/levels.ts'
import { seriesNames } from '../history/values/series.ts'
import { toPlayer, toPlayers } from '../http/players.ts'
import { wallOf } from '../live/state.ts'
import { defaultPorts, formatHostPort, type HostPort } from '../util/address.ts'
import type { Clock } from '../util/clock.ts'
import type { MaintenanceOf } from '../util/part-metrics.ts'
import type { PageHistory } from './page-history.ts'
import { settingsOf, toPageServer } from './page-server.ts'
import { chartNames, chartSeries } from './view/charts.ts'
import { maxIncidents } from './view/incidents.ts'
import { maxListed } from './view/players.ts'
import type { FieldTexts } from './view/texts/en.ts'
import type {
  ChartName,
  FoundPlayers,
  ListedPlayer,
  ServerDetails,
  Session,
  SourceHint,
  SourceRow,
  WeekOfPlayers,
} from './view/types.ts'

const tenMinutes = 600_000
/** Maximum number of past visits sent, and of the players of the last seven days. */
const [maxVisits, maxRegulars] = [40, 40]
/** Days of which incidents are shown: those of the bars. */
const incidentDays = 90

/** What the pages of single servers are made from. */
export interface ServerPageParts {
  readonly fleet: Fleet
  readonly history: History
  readonly past: PageHistory
  readonly clock: Clock
  readonly isPublic: boolean
  readonly metricsListen?: HostPort | undefined
  readonly maintenanceOf: MaintenanceOf
}

/** What the page of one server shows. */
export async function collectDetails(parts: ServerPageParts, watcher: Watcher, fieldTexts?: FieldTexts): Promise<ServerDetails> {
  const { fleet, history, past, clock, isPublic, metricsListen } = parts
  const { server: name } = watcher
  const now = clock.wall()
  const since = Math.round(now - incidentDays * dayMs)
  const [cards, { record }, incidents, visits, regulars, charts] = await Promise.all([
    past.cards([name]),
    history.uptime(name, 1),
    history.incidents({ servers: [name], since, limit: maxIncidents }),
    isPublic && history.recordsPlayers ? history.sessions(name) : null,
    isPublic ? history.regulars(name, 7 * dayMs, maxRegulars) : null,
    chartsWithValues(history, name),
  ])
  const snapshot = watcher.snapshot()
  const settings = settingsOf(fleet, name)
  const server = toPageServer(settings, snapshot, parts)
  const players = isPublic ? playersOf(snapshot) : null
  const sessions =
    visits?.map(
      ({ from = null, to = null, isOnline, ...player }): Session => ({ player: toPlayer(player), from, to, isOnline }),
    ) ?? null
  const byState = (isOnline: boolean, max: number) =>
    (sessions ?? []).filter((session) => session.isOnline === isOnline).slice(0, max)
  return {
    history: cards.get(name) ?? null,
    record: record.players === null || record.at === null ? null : { players: record.players, at: record.at },
    incidents: incidents.map((incident) => {
      const { kind, from, to, detail, notes } = incident
      return { kind, from, to, ongoing: isOngoing(incident, now), detail, notes }
    }),
    regulars,
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

/** The players online whose name contains a text; undefined if no source has the full list. */
export function findPlayers(watcher: Watcher, text: string): FoundPlayers | undefined {
  const wanted = text.toLowerCase()
  const found = playersOf(watcher.snapshot())?.filter(({ NAME }) => NAME.toLowerCase().includes(wanted))
  return found && { players: found.slice(0, maxListed), total: found.length }
}

/** The numbers of players of the last seven days. */
export async function collectWeek(history: History, server: string): Promise<WeekOfPlayers> {
  const query = { names: ['players'], range: 7 * dayMs, points: (7 * dayMs) / tenMinutes } as const
  const { from, step, series } = await history.range(server, query)
  const round = (value: number | null) => value && Math.round(value * 10) / 10
  return { from, step, players: (series.players?.mean ?? []).map(round) }
}

/** The charts that have values of the last 24 hours: the others are not shown. */
async function chartsWithValues(history: History, server: string): Promise<readonly ChartName[]> {
  // Ten-minute values, which are stored for times of more than a day.
  const query = { names: seriesNames, range: 2 * dayMs, points: (2 * dayMs) / tenMinutes }
  const { series } = await history.range(server, query)
  return chartNames.filter((chart) =>
    chartSeries[chart].some((of) => series[of]?.mean.slice(-dayMs / tenMinutes).some((value) => value !== null)),
  )
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

/** The state of each source of a server; disabled sources have no target. */
function sourceRows(snapshot: ServerSnapshot): readonly SourceRow[] {
  const states = new Map(snapshot.sources.map((state) => [state.source, state]))
  return sources.map(({ name, title }) => {
    const state = states.get(name)
    return {
      source: title,
      state: state?.state ?? 'off',
      target: state?.target ?? null,
      lastError: state?.lastError ?? null,
    }
  })
}

/**
 * For each source that is off and would provide unknown values of a server, what to set. What to check of one that fails is in its row.
 * @param texts of the fields; default: their labels
 */
export function sourceHints(
  { fields, sources: states }: ServerSnapshot,
  server: ServerSettings,
  texts?: FieldTexts,
): readonly SourceHint[] {
  const edition = addressOf(server)?.edition ?? 'java'
  const isOn = new Set<string>(states.map(({ source }) => source))
  return sources.flatMap(({ name, title, editions, hints, fields: given }: SourceDescriptor) => {
    if (isOn.has(name) || !editions.includes(edition)) return []
    const missing = (Object.keys(given) as FieldName[]).filter(
      (field) => fields[field] === undefined && field !== 'formattedMotd',
    )
    const gives = [...new Set(missing.map((field) => texts?.[field] ?? fieldDescriptions[field].label))]
    return gives.length === 0 ? [] : [{ source: title, set: nameSettings(hints.notConfigured, server.settingNames), gives }]
  })
}
