import type { FastifyInstance, FastifyRequest } from 'fastify'
import sharp from 'sharp'
import { type TSchema, Type } from 'typebox'
import type { Clock } from '../../clock.ts'
import { integer, oneOf } from '../../config/kinds.ts'
import { invalidParameter } from '../../errors.ts'
import type { Fleet } from '../../game/fleet.ts'
import type { ServerSnapshot } from '../../game/snapshot.ts'
import type { History } from '../../history/history.ts'
import { range } from '../../history/range.ts'
import { seriesList } from '../../history/register.ts'
import { series as seriesOf } from '../../history/series.ts'
import { problems } from '../../http/problem.ts'
import { optional, type Parameter, shown } from '../../http/query.ts'
import { sendPrepared } from '../../http/reply.ts'
import { type ServerPlace, serverPlaces } from '../../http/server-place.ts'
import type { Log } from '../../log.ts'
import { badgeContent, badgeKinds, drawBadge } from './badge.ts'
import { drawBanner } from './banner.ts'
import { drawChart } from './chart.ts'
import { warmFonts } from './font.ts'
import { headPattern } from './head-pattern.ts'
import { createHeadSource, maxHead } from './head-source.ts'
import { createRenderer, type Picture } from './renderer.ts'
import { summarise } from './summary.ts'
import { themeNames, themes } from './theme.ts'

export interface PicturesOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly history: Pick<History, 'range' | 'uptime'>
  readonly log: Log
  /** The icon of a server, 64x64 PNG; a default one where it has none. */
  readonly icon: (snapshot: ServerSnapshot) => Promise<Buffer>
  /** Template of the URL of a player's head. */
  readonly headsUrl?: string
}

interface Setting<T> extends Parameter<T> {
  readonly meaning: string
  readonly default: T
}

const setting = <T>(parameter: Parameter<T>, meaning: string, value: T): Setting<T> => ({ ...parameter, meaning, default: value })

const theme = setting(oneOf(...themeNames), 'Colours', 'dark' as const)
const bannerSettings = { width: setting(integer(300, 1200), 'Width in pixels', 600), theme }
const badgeSettings = { show: setting(oneOf(...badgeKinds), 'What it shows', 'status' as const) }
const chartSettings = {
  series: setting(seriesList, 'What it shows: series of the same unit', ['players'] as const),
  range: setting(range, 'How far back', 24 * 3_600_000),
  width: setting(integer(200, 1600), 'Width in pixels', 720),
  height: setting(integer(100, 800), 'Height in pixels', 240),
  theme,
}
const headSettings = { size: setting(integer(8, maxHead), 'Side in pixels', 64) }

const read = <T>(request: FastifyRequest, name: string, parameter: Setting<T>): T =>
  optional(request, name, parameter) ?? parameter.default

const uuidPattern = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** @throws RequestError INVALID_PARAMETER */
function readUuid(request: FastifyRequest): string {
  const { uuid } = request.params as { uuid: string }
  const parts = uuidPattern.exec(uuid)?.slice(1)
  if (parts === undefined) throw invalidParameter(`Parameter "uuid" is ${shown(uuid)}; expected a UUID, with or without dashes.`)
  return parts.join('-').toLowerCase()
}

const schemaOf = (
  place: ServerPlace,
  {
    summary,
    type,
    settings,
    params,
  }: {
    readonly summary: string
    readonly type: Picture['type']
    readonly settings: Readonly<Record<string, Setting<unknown>>>
    readonly params?: Record<string, TSchema>
  },
) => ({
  tags: [place.tag],
  summary,
  ...((place.params || params) && { params: Type.Object({ ...place.params?.properties, ...params }) }),
  querystring: Type.Object(
    Object.fromEntries(
      Object.entries(settings).map(([name, { meaning, expected }]) => [
        name,
        Type.Optional(Type.String({ description: `${meaning}: ${expected}` })),
      ]),
    ),
  ),
  response: {
    200: { description: summary, content: { [type]: { schema: Type.String({ format: 'binary' }) } } },
    ...problems(400, 503, ...(place.params ? [404] : [])),
  },
})

const toPng = (svg: string): Promise<Buffer> =>
  sharp(Buffer.from(svg)).timeout({ seconds: 5 }).png({ compressionLevel: 7 }).toBuffer()

/** Banner, badge, chart and heads of each server. */
export function registerPictures(app: FastifyInstance, { fleet, clock, history, log, icon, headsUrl }: PicturesOptions): void {
  warmFonts()
  const renderer = createRenderer()
  const heads = headsUrl === undefined ? undefined : createHeadSource(headsUrl, log)
  app.addHook('onClose', async () => heads?.close())

  let snapshots = 0
  const numbers = new WeakMap<ServerSnapshot, number>()
  /** A number of its own for each snapshot. */
  function numberOf(snapshot: ServerSnapshot): number {
    const before = numbers.get(snapshot)
    if (before !== undefined) return before
    numbers.set(snapshot, ++snapshots)
    return snapshots
  }

  function addBanner(place: ServerPlace): void {
    const schema = schemaOf(place, {
      summary: 'Banner with the state of the server',
      type: 'image/png',
      settings: bannerSettings,
    })
    app.get(`${place.path}/banner.png`, { schema }, async (request, reply) => {
      const { settings, snapshot: newest } = place.watcher(request)
      const snapshot = newest()
      const width = read(request, 'width', bannerSettings.width)
      const name = read(request, 'theme', theme)
      const summary = summarise(snapshot, settings.staleAfter)
      const picture: Picture = {
        type: 'image/png',
        key: JSON.stringify(['banner', numberOf(snapshot), summary.up, width, name]),
        render: async () => toPng(drawBanner(summary, await icon(snapshot), width, themes[name])),
      }
      return sendPrepared(request, reply, await renderer.reply(picture))
    })
  }

  function addBadge(place: ServerPlace): void {
    const schema = schemaOf(place, { summary: 'Badge for a README', type: 'image/svg+xml', settings: badgeSettings })
    app.get(`${place.path}/badge.svg`, { schema }, async (request, reply) => {
      const { server, settings, snapshot } = place.watcher(request)
      const summary = summarise(snapshot(), settings.staleAfter)
      const content = badgeContent(read(request, 'show', badgeSettings.show), summary, () => history.uptime(server, 90))
      const picture: Picture = {
        type: 'image/svg+xml',
        key: JSON.stringify(['badge', content]),
        render: async () => drawBadge(content),
      }
      return sendPrepared(request, reply, await renderer.reply(picture))
    })
  }

  function addChart(place: ServerPlace): void {
    const schema = schemaOf(place, { summary: 'Chart of recorded values', type: 'image/png', settings: chartSettings })
    app.get(`${place.path}/chart.png`, { schema }, async (request, reply) => {
      const { server, snapshot } = place.watcher(request)
      const names = read(request, 'series', chartSettings.series)
      const [first, ...others] = names.map((name) => seriesOf[name].unit)
      if (others.some((unit) => unit !== first)) {
        throw invalidParameter(
          `Parameter "series" is ${shown(names.join(','))}; expected series of the same unit, such as tickTimeMean,tickTimeP99.`,
        )
      }
      const period = read(request, 'range', chartSettings.range)
      const width = read(request, 'width', chartSettings.width)
      const height = read(request, 'height', chartSettings.height)
      const name = read(request, 'theme', theme)
      const points = Math.min(400, Math.max(10, Math.floor(width / 3)))
      const picture: Picture = {
        type: 'image/png',
        // Also while a server is silent time goes on.
        key: JSON.stringify([
          'chart',
          server,
          numberOf(snapshot()),
          Math.floor(clock.wall() / 30_000),
          names,
          period,
          width,
          height,
          name,
        ]),
        render: async () => {
          const values = history.range(server, { names, range: period, points })
          return toPng(drawChart({ server, values, width, height, theme: themes[name] }))
        },
      }
      return sendPrepared(request, reply, await renderer.reply(picture))
    })
  }

  function addHead(place: ServerPlace): void {
    const schema = schemaOf(place, {
      summary: 'Head of a player',
      type: 'image/png',
      settings: headSettings,
      params: { uuid: Type.String({ description: 'UUID of the player, with or without dashes' }) },
    })
    app.get(`${place.path}/players/:uuid/head.png`, { schema }, async (request, reply) => {
      place.watcher(request)
      const uuid = readUuid(request)
      const size = read(request, 'size', headSettings.size)
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
