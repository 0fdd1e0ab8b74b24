import type { FastifyInstance } from 'fastify'
import type { Fleet } from '../../game/fleet.ts'
import {
  integerParameter,
  type Parameter,
  type Parameters,
  type ParameterValues,
  query,
  withDefault,
} from '../../http/parameters.ts'
import { toPlayer } from '../../http/players.ts'
import { malformed, problem, problems } from '../../http/replies/problem.ts'
import { prepareJson, sendPrepared } from '../../http/replies/reply.ts'
import { json, preparedReplies } from '../../http/replies/responses.ts'
import { serverPlaces } from '../../http/server-place.ts'
import { list, oneOf, parseDuration } from '../../settings/kinds/index.ts'
import { notFound } from '../../util/errors.ts'
import { type TSchema, Type } from '../../util/schema.ts'
import type { History } from '../history.ts'
import { isRange } from '../values/range.ts'
import { type SeriesName, seriesNames } from '../values/series.ts'
import { maxDays } from '../values/uptime.ts'
import { HistoryReply, PlayersReply, SessionsReply, UptimeReply } from './schemas.ts'

const oneSeries = oneOf(...(seriesNames as [SeriesName]))
const day = 24 * 3_600_000

/** One or several series without duplicates. */
export const seriesParameter: Parameter<readonly SeriesName[]> = {
  expected: list(oneSeries).expected,
  parse(text) {
    const names = text.split(',').map((name) => oneSeries.parse(name.trim()))
    return names.every((name) => name !== undefined) ? [...new Set(names)] : undefined
  },
  schema: Type.String({ description: `Series, separated by commas: ${seriesNames.join(', ')}`, examples: ['players,latency'] }),
}

const expectedRange =
  'a duration from 1h to 7d in whole minutes, beyond 24h in multiples of 10 minutes, such as 6h; or 30d, 90d or 365d'

/** A range that ends now, in milliseconds. */
export const rangeParameter: Parameter<number> = {
  expected: expectedRange,
  parse(text) {
    const range = parseDuration(text)
    return range !== undefined && isRange(range) ? range : undefined
  },
  schema: Type.String({ description: `Time range up to now: ${expectedRange}`, examples: ['24h'] }),
}

const historyParameters = {
  series: withDefault(seriesParameter, ['players'] as const),
  range: withDefault(rangeParameter, day),
  points: withDefault(
    integerParameter({ minimum: 10, maximum: 1000, description: 'Maximum number of values of each series', example: 240 }),
    240,
  ),
}
/** A route of each server. */
interface Route<P extends Parameters> {
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Example detail of an invalid parameter. */
  readonly mistake?: string
  readonly parameters: P
  readonly reply: TSchema
  /** Whether settings may turn it off: it is then not found. */
  readonly isOptional?: true
  /** What the reply has besides the name of the server. */
  read(server: string, values: ParameterValues<P>): Promise<object>
}

interface HistoryRoutesOptions {
  readonly fleet: Fleet
  readonly history: History
  /** The part of a UTC day in which a server was in maintenance. */
  readonly maintenancePart: (server: string, date: string) => number
  /** The setting that is false, so that `/players` is not served. */
  readonly playersOff?: string
}

/** `/history`, `/sessions`, `/players` and `/uptime` of each server. */
export function registerHistory(
  app: FastifyInstance,
  { fleet, history, maintenancePart, playersOff }: HistoryRoutesOptions,
): void {
  function add<P extends Parameters>({
    path,
    summary,
    description,
    mistake,
    parameters,
    reply,
    isOptional,
    read,
  }: Route<P>): void {
    for (const place of serverPlaces(fleet)) {
      const schema = {
        ...{ tags: [place.tag], summary, description, querystring: query(parameters) },
        ...(place.params && { params: place.params }),
        response: {
          ...preparedReplies({ description: summary, content: json(reply) }),
          ...problem(400, { code: 'INVALID_PARAMETER', detail: mistake ?? malformed('The query') }),
          ...((place.params || isOptional) && problems(404)),
        },
      }
      app.get(`${place.path}${path}`, { schema }, async (request, sent) => {
        const { server } = place.watcher(request)
        return sendPrepared(request, sent, prepareJson({ server, ...(await read(server, request.query as ParameterValues<P>)) }))
      })
    }
  }
  add({
    path: '/history',
    summary: 'Recorded values over time',
    description: 'Minimum, mean and maximum of each series in steps of equal length; null where unknown.',
    mistake: 'Parameter "points" is "5"; expected an integer from 10 to 1000.',
    parameters: historyParameters,
    reply: HistoryReply,
    read: (server, { series: names, range, points }) => history.range(server, { names, range, points }),
  })
  add({
    path: '/sessions',
    summary: 'Player sessions',
    description: 'The last 200 player sessions, newest first. They require a source that provides the full player list.',
    parameters: {},
    reply: SessionsReply,
    async read(server) {
      const sessions = (await history.sessions(server)).map(({ name, id, from, to, isOnline }) => ({
        player: toPlayer({ name, ...(id !== undefined && { id }) }),
        ...{ from: from ?? null, to: to ?? null, online: isOnline },
      }))
      return { sessions }
    },
  })
  add({
    path: '/players',
    summary: 'Players and their playing time',
    description:
      'Who played in the range: longest time first, at most 10,000. It is not served if HISTORY_PLAYERS or PAGE_PUBLIC is false.',
    mistake: `Parameter "range" is "5m"; expected ${rangeParameter.expected}.`,
    parameters: { range: withDefault(rangeParameter, 7 * day) },
    reply: PlayersReply,
    isOptional: true,
    async read(server, { range }) {
      if (playersOff !== undefined) throw notFound(`Players are not served because ${playersOff} is false.`)
      return { players: await history.players(server, range) }
    },
  })
  add({
    path: '/uptime',
    summary: 'Uptime by day',
    description:
      'For each UTC day the uptime, as a fraction of the known time, and the players; also the record number of players.',
    mistake: 'Parameter "days" is "0"; expected an integer from 1 to 400.',
    parameters: {
      days: withDefault(integerParameter({ minimum: 1, maximum: maxDays, description: 'Number of UTC days', example: 90 }), 90),
    },
    reply: UptimeReply,
    async read(server, { days: count }) {
      const { since, days, record } = await history.uptime(server, count)
      const all = days.map(({ players, ...day }) => ({ ...day, maintenance: maintenancePart(server, day.date), players }))
      return { since, days: all, record }
    },
  })
}
