import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import sharp from 'sharp'
import { type TSchema, Type } from 'typebox'
import type { Clock } from '../../clock.ts'
import { invalidParameter } from '../../errors.ts'
import type { Fleet } from '../../game/fleet.ts'
import type { ServerSnapshot } from '../../game/snapshot.ts'
import type { History } from '../../history/history.ts'
import { rangeParameter, seriesParameter } from '../../history/register.ts'
import { series as seriesOf } from '../../history/series.ts'
import { choiceParameter, integerParameter, type Parameters, query, shown, withDefault } from '../../http/parameters.ts'
import { problem, problems } from '../../http/problem.ts'
import { sendPrepared } from '../../http/reply.ts'
import { preparedReplies } from '../../http/responses.ts'
import { type ServerPlace, serverPlaces } from '../../http/server-place.ts'
import type { Log } from '../../log.ts'
import { badgeContent, badgeKinds, drawBadge } from './badge.ts'
import { drawBanner } from './banner.ts'
import { drawChart } from './chart.ts'
import { headPattern } from './head-pattern.ts'
import { createHeadSource, maxHead } from './head-source.ts'
import { createRenderer, type Picture } from './renderer.ts'
import { summarise } from './summary.ts'
import { themeNames, themes } from './theme.ts'
import { toPng, warmPictures } from './warm.ts'

export interface PicturesOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly history: Pick<History, 'range' | 'uptime'>
  readonly log: Log
  /** The icon of a server, 64x64 PNG; a default one if it has none. */
  readonly icon: (snapshot: ServerSnapshot) => Promise<Buffer>
  /** URL template of a player's head. */
  readonly headsUrl?: string
}

const pixels = (minimum: number, maximum: number, value: number, description: string) =>
  withDefault(integerParameter({ minimum, maximum, description, example: value }), value)
const choice = <T extends string>(names: readonly T[], value: T, description: string) =>
  withDefault(choiceParameter({ choices: names, description, example: value }), value)

const theme = choice(themeNames, 'dark', 'Colours')
const bannerParameters = { width: pixels(300, 1200, 600, 'Width in pixels'), theme }
const badgeParameters = { show: choice(badgeKinds, 'status', 'Value on the badge') }
const chartParameters = {
  series: withDefault(seriesParameter, ['players'] as const),
  range: withDefault(rangeParameter, 24 * 3_600_000),
  width: pixels(200, 1600, 720, 'Width in pixels'),
  height: pixels(100, 800, 240, 'Height in pixels'),
  theme,
}
const headParameters = { size: pixels(8, maxHead, 64, 'Width and height in pixels') }

const uuidPattern = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** @throws RequestError INVALID_PARAMETER */
function readUuid(request: FastifyRequest): string {
  const { uuid } = request.params as { uuid: string }
  const parts = uuidPattern.exec(uuid)?.slice(1)
  if (parts === undefined) throw invalidParameter(`Parameter "uuid" is ${shown(uuid)}; expected a UUID, with or without dashes.`)
  return parts.join('-').toLowerCase()
}

/** The first bytes of each type, as text. */
const examples: Readonly<Record<Picture['type'], string>> = {
  'image/png': '\x89PNG',
  'image/svg+xml': '<svg xmlns="http://www.w3.org/2000/svg"/>',
}

interface PictureDocs<P extends Parameters> {
  readonly summary: string
  readonly description: string
  readonly type: Picture['type']
  readonly parameters: P
  readonly params?: Record<string, TSchema>
  /** Example detail of an invalid parameter. */
  readonly mistake: string
}

const schemaOf = <P extends Parameters>(place: ServerPlace, docs: PictureDocs<P>) => ({
  tags: [place.tag],
  summary: docs.summary,
  description: docs.description,
  ...((place.params || docs.params) && { params: Type.Object({ ...place.params?.properties, ...docs.params }) }),
  querystring: query(docs.parameters),
  response: {
    ...preparedReplies({
      description: docs.summary,
      content: { [docs.type]: { schema: Type.String({ format: 'binary' }), example: examples[docs.type] } },
    }),
    ...problem(400, { code: 'INVALID_PARAMETER', detail: docs.mistake }),
    ...(place.params && problems(404)),
    ...problem(503, { code: 'TOO_MANY_PICTURES', detail: 'Too many pictures are being rendered; try again in a moment.' }),
  },
})

/** Banner, badge, chart and heads of each server. */
export function registerPictures(app: FastifyInstance, { fleet, clock, history, log, icon, headsUrl }: PicturesOptions): void {
  const ready = warmPictures()
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()
  const renderer = createRenderer()
  const heads = headsUrl === undefined ? undefined : createHeadSource(headsUrl, log)
  app.addHook('onClose', async () => heads?.close())

  let snapshots = 0
  const numbers = new WeakMap<ServerSnapshot, number>()
  /** A unique number for each snapshot. */
  function numberOf(snapshot: ServerSnapshot): number {
    const before = numbers.get(snapshot)
    if (before !== undefined) return before
    numbers.set(snapshot, ++snapshots)
    return snapshots
  }

  function addBanner(place: ServerPlace): void {
    const schema = schemaOf(place, {
      summary: 'Banner of the server',
      description: 'Icon, name, MOTD, players, tick rate and version as one picture, for forums and chats.',
      type: 'image/png',
      parameters: bannerParameters,
      mistake: 'Parameter "width" is "2000"; expected an integer from 300 to 1200.',
    })
    routes.get(`${place.path}/banner.png`, { schema }, async (request, reply) => {
      const watcher = place.watcher(request)
      const snapshot = watcher.snapshot()
      const { width, theme: name } = request.query
      const summary = summarise(snapshot)
      const picture: Picture = {
        type: 'image/png',
        key: JSON.stringify(['banner', numberOf(snapshot), summary.up, width, name]),
        render: async () => {
          const [png] = await Promise.all([icon(snapshot), ready])
          const banner = drawBanner(summary, png, width, themes[name])
          await nextTurn()
          return toPng(banner)
        },
      }
      return sendPrepared(request, reply, await renderer.reply(picture))
    })
  }

  function addBadge(place: ServerPlace): void {
    const schema = schemaOf(place, {
      summary: 'Badge of the server',
      description: 'One value as a badge for a README.',
      type: 'image/svg+xml',
      parameters: badgeParameters,
      mistake: `Parameter "show" is "ping"; expected ${badgeKinds.join(', ')}.`,
    })
    routes.get(`${place.path}/badge.svg`, { schema }, async (request, reply) => {
      const watcher = place.watcher(request)
      const { server } = watcher
      const summary = summarise(watcher.snapshot())
      const content = badgeContent(request.query.show, summary, () => history.uptime(server, 90))
      const picture: Picture = {
        type: 'image/svg+xml',
        key: JSON.stringify(['badge', content]),
        render: async () => {
          await ready
          return drawBadge(content)
        },
      }
      return sendPrepared(request, reply, await renderer.reply(picture))
    })
  }

  function addChart(place: ServerPlace): void {
    const schema = schemaOf(place, {
      summary: 'Chart of recorded values',
      description: 'A chart of series with the same unit, with gaps where values are unknown.',
      type: 'image/png',
      parameters: chartParameters,
      mistake: 'Parameter "height" is "10"; expected an integer from 100 to 800.',
    })
    routes.get(`${place.path}/chart.png`, { schema }, async (request, reply) => {
      const watcher = place.watcher(request)
      const { server } = watcher
      const { series: names, range: period, width, height, theme: name } = request.query
      const [first, ...others] = names.map((name) => seriesOf[name].unit)
      if (others.some((unit) => unit !== first)) {
        throw invalidParameter(
          `Parameter "series" is ${shown(names.join(','))}; expected series of the same unit, such as tickTimeMean,tickTimeP99.`,
        )
      }
      const points = Math.min(400, Math.max(10, Math.floor(width / 3)))
      const picture: Picture = {
        type: 'image/png',
        // The time axis moves even if the server sends nothing.
        key: JSON.stringify([
          'chart',
          server,
          numberOf(watcher.snapshot()),
          Math.floor(clock.wall() / 30_000),
          names,
          period,
          width,
          height,
          name,
        ]),
        render: async () => {
          await ready
          const values = history.range(server, { names, range: period, points })
          // Reading the values, drawing and rendering take some milliseconds each.
          await nextTurn()
          const chart = drawChart({ server, values, width, height, theme: themes[name] })
          await nextTurn()
          return toPng(chart)
        },
      }
      return sendPrepared(request, reply, await renderer.reply(picture))
    })
  }

  function addHead(place: ServerPlace): void {
    const schema = schemaOf(place, {
      summary: 'Head of a player',
      description: 'A pattern generated from the UUID, or the head from HEADS_URL.',
      type: 'image/png',
      parameters: headParameters,
      mistake: 'Parameter "size" is "4"; expected an integer from 8 to 128.',
      params: {
        uuid: Type.String({
          description: 'UUID of the player, with or without dashes',
          examples: ['069a79f4-44e9-4726-a5be-fca90e38aaf5'],
        }),
      },
    })
    routes.get(`${place.path}/players/:uuid/head.png`, { schema }, async (request, reply) => {
      place.watcher(request)
      const uuid = readUuid(request)
      const { size } = request.query
      const head = await heads?.get(uuid)
      const { pixels, side } = headPattern(uuid)
      const source = head === undefined ? sharp(pixels, { raw: { width: side, height: side, channels: 3 } }) : sharp(head)
      const picture: Picture = {
        type: 'image/png',
        key: JSON.stringify(['head', uuid, size, head !== undefined]),
        render: () => source.resize(size, size, { kernel: 'nearest' }).png().toBuffer(),
      }
      return sendPrepared(request, reply, await renderer.reply(picture))
    })
  }

  for (const place of serverPlaces(fleet)) for (const add of [addBanner, addBadge, addChart, addHead]) add(place)
}
