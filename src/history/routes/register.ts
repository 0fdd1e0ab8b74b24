import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import type { Fleet } from '../../game/fleet.ts'
import { integerParameter, type Parameter, type Parameters, query, withDefault } from '../../http/parameters.ts'
import { toPlayer } from '../../http/players.ts'
import { problem, problems } from '../../http/replies/problem.ts'
import { prepareJson, sendPrepared } from '../../http/replies/reply.ts'
import { json, preparedReplies } from '../../http/replies/responses.ts'
import { type ServerPlace, serverPlaces } from '../../http/server-place.ts'
import { list, oneOf, parseDuration } from '../../settings/kinds/index.ts'
import { notFound } from '../../util/errors.ts'
import { type TSchema, Type } from '../../util/schema.ts'
import type { History } from '../history.ts'
import { isRange } from '../values/range.ts'
import { type SeriesName, seriesNames } from '../values/series.ts'
import { maxDays } from '../values/uptime.ts'
import { HistoryReply, PlayersReply, SessionsReply, UptimeReply } from './schemas.ts'

const someSeries = list(oneOf(...(seriesNames as [SeriesName])))
const day = 24 * 3_600_000

/** One or several series without duplicates. */
export const seriesParameter: Parameter<readonly SeriesName[]> = {
  expected: someSeries.expected,
  parse(text) {
    const names = someSeries.parse(text)
    return names === undefined || names.length === 0 ? undefined : [...new Set(names)]
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
const playersParameters = { range: withDefault(rangeParameter, 7 * day) }
const uptimeParameters = {
  days: withDefault(integerParameter({ minimum: 1, maximum: maxDays, description: 'Number of UTC days', example: 90 }), 90),
}

const schemaOf = <P extends Parameters>(place: ServerPlace, docs: RouteDocs, parameters: P, schema: TSchema) => ({
  tags: [place.tag],
  summary: docs.summary,
  description: docs.description,
  ...(place.params && { params: place.params }),
  querystring: query(parameters),
  response: {
    ...preparedReplies({ description: docs.summary, content: json(schema) }),
    ...problem(400, { code: 'INVALID_PARAMETER', detail: docs.mistake ?? 'Query string is not percent-encoded UTF-8.' }),
    ...(place.params && problems(404)),
  },
})

interface RouteDocs {
  readonly summary: string
  readonly description: string
  /** Example detail of an invalid parameter. */
  readonly mistake?: string
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
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  for (const place of serverPlaces(fleet)) {
    const ofHistory = {
      summary: 'Recorded values over time',
      description: 'Minimum, mean and maximum of each series in steps of equal length; null where unknown.',
      mistake: 'Parameter "points" is "5"; expected an integer from 10 to 1000.',
    }
    routes.get(
      `${place.path}/history`,
      { schema: schemaOf(place, ofHistory, historyParameters, HistoryReply) },
      async (request, reply) => {
        const { server } = place.watcher(request)
        const { series: names, range, points } = request.query
        return sendPrepared(request, reply, prepareJson({ server, ...(await history.range(server, { names, range, points })) }))
      },
    )
    const ofSessions = {
      summary: 'Player sessions',
      description: 'The last 200 player sessions, newest first. They require a source that provides the full player list.',
    }
    routes.get(`${place.path}/sessions`, { schema: schemaOf(place, ofSessions, {}, SessionsReply) }, async (request, reply) => {
      const { server } = place.watcher(request)
      const sessions = (await history.sessions(server)).map(({ name, id, from, to, isOnline }) => ({
        player: toPlayer({ name, ...(id !== undefined && { id }) }),
        from: from ?? null,
        to: to ?? null,
        online: isOnline,
      }))
      return sendPrepared(request, reply, prepareJson({ server, sessions }))
    })
    const ofPlayers = {
      summary: 'Players and their playing time',
      description: 'Who played in the range: longest time first. It is not served if HISTORY_PLAYERS or PAGE_PUBLIC is false.',
      mistake: `Parameter "range" is "5m"; expected ${rangeParameter.expected}.`,
    }
    const playersSchema = schemaOf(place, ofPlayers, playersParameters, PlayersReply)
    routes.get(
      `${place.path}/players`,
      { schema: { ...playersSchema, response: { ...playersSchema.response, ...problems(404) } } },
      async (request, reply) => {
        const { server } = place.watcher(request)
        if (playersOff !== undefined) throw notFound(`Players are not served because ${playersOff} is false.`)
        const players = await history.players(server, request.query.range)
        return sendPrepared(request, reply, prepareJson({ server, players }))
      },
    )
    const ofUptime = {
      summary: 'Uptime by day',
      description:
        'For each UTC day the uptime, as a fraction of the known time, and the players; also the record number of players.',
      mistake: 'Parameter "days" is "0"; expected an integer from 1 to 400.',
    }
    routes.get(
      `${place.path}/uptime`,
      { schema: schemaOf(place, ofUptime, uptimeParameters, UptimeReply) },
      async (request, reply) => {
        const { server } = place.watcher(request)
        const { days, ...rest } = await history.uptime(server, request.query.days)
        const all = days.map(({ players, ...day }) => ({ ...day, maintenance: maintenancePart(server, day.date), players }))
        return sendPrepared(request, reply, prepareJson({ server, since: rest.since, days: all, record: rest.record }))
      },
    )
  }
}
