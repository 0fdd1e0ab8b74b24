import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { integer, list, oneOf } from '../config/kinds.ts'
import type { Fleet } from '../game/fleet.ts'
import { toPlayer } from '../http/players.ts'
import { problems } from '../http/problem.ts'
import { optional, type Parameter } from '../http/query.ts'
import { prepareJson, sendPrepared } from '../http/reply.ts'
import { type ServerPlace, serverPlaces } from '../http/server-place.ts'
import type { History } from './history.ts'
import { range } from './range.ts'
import { HistoryReply, SessionsReply, UptimeReply } from './schemas.ts'
import { type SeriesName, seriesNames } from './series.ts'
import { maxDays } from './uptime.ts'

const someSeries = list(oneOf(...(seriesNames as [SeriesName])))

/** One series or several, each once. */
export const seriesList: Parameter<readonly SeriesName[]> = {
  expected: someSeries.expected,
  parse(text) {
    const names = someSeries.parse(text)
    return names === undefined || names.length === 0 ? undefined : [...new Set(names)]
  },
}
const points = integer(10, 1000)
const days = integer(1, maxDays)
const defaults = { range: 24 * 3_600_000, points: 240, days: 90 }

const parameter = ({ expected }: Parameter<unknown>, given: string) =>
  Type.Optional(Type.String({ description: `${expected}; default ${given}` }))

const schemaOf = (place: ServerPlace, summary: string, querystring: object, reply: object) => ({
  tags: [place.tag],
  summary,
  ...(place.params && { params: place.params }),
  querystring,
  response: {
    200: { description: summary, content: { 'application/json': { schema: reply } } },
    ...problems(400, ...(place.params ? [404] : [])),
  },
})

/** `/history`, `/sessions` and `/uptime` of each server. */
export function registerHistory(app: FastifyInstance, { fleet, history }: { fleet: Fleet; history: History }): void {
  for (const place of serverPlaces(fleet)) {
    const historyQuery = Type.Object({
      series: parameter(seriesList, 'players'),
      range: parameter(range, '24h'),
      points: parameter(points, String(defaults.points)),
    })
    app.get(
      `${place.path}/history`,
      { schema: schemaOf(place, 'Recorded values over time', historyQuery, HistoryReply) },
      (request, reply) => {
        const { server } = place.watcher(request)
        const values = history.range(server, {
          names: optional(request, 'series', seriesList) ?? ['players'],
          range: optional(request, 'range', range) ?? defaults.range,
          points: optional(request, 'points', points) ?? defaults.points,
        })
        return sendPrepared(request, reply, prepareJson({ server, ...values }))
      },
    )
    app.get(
      `${place.path}/sessions`,
      { schema: schemaOf(place, 'The last 200 sessions of players, newest first', Type.Object({}), SessionsReply) },
      (request, reply) => {
        const { server } = place.watcher(request)
        const sessions = history.sessions(server).map(({ name, id, from, to, isOnline }) => ({
          player: toPlayer({ name, ...(id !== undefined && { id }) }),
          from: from ?? null,
          to: to ?? null,
          online: isOnline,
        }))
        return sendPrepared(request, reply, prepareJson({ server, sessions }))
      },
    )
    const uptimeQuery = Type.Object({ days: parameter(days, String(defaults.days)) })
    app.get(
      `${place.path}/uptime`,
      { schema: schemaOf(place, 'Uptime and players by UTC day, and the record', uptimeQuery, UptimeReply) },
      (request, reply) => {
        const { server } = place.watcher(request)
        const values = history.uptime(server, optional(request, 'days', days) ?? defaults.days)
        return sendPrepared(request, reply, prepareJson({ server, ...values }))
      },
    )
  }
}
