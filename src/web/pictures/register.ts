import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Fleet } from '../../game/fleet.ts'
import { normaliseUuid } from '../../game/protocol/uuid.ts'
import type { ServerSnapshot } from '../../game/snapshot.ts'
import type { Watcher } from '../../game/watcher/index.ts'
import type { History } from '../../history/history.ts'
import { rangeParameter, seriesParameter } from '../../history/routes/register.ts'
import { series as seriesOf } from '../../history/values/series.ts'
import {
  choiceParameter,
  integerParameter,
  type Parameters,
  type ParameterValues,
  query,
  shown,
  withDefault,
} from '../../http/parameters.ts'
import { problem, problems } from '../../http/replies/problem.ts'
import { sendPrepared } from '../../http/replies/reply.ts'
import { preparedReplies } from '../../http/replies/responses.ts'
import { type ServerPlace, serverPlaces } from '../../http/server-place.ts'
import type { Clock } from '../../util/clock.ts'
import { invalidParameter } from '../../util/errors.ts'
import type { Log } from '../../util/log.ts'
import type { MaintenanceOf } from '../../util/part-metrics.ts'
import { type TSchema, Type } from '../../util/schema.ts'
import { loadSharp } from '../../util/sharp.ts'
import { joinOf } from '../server-details.ts'
import { badgeContent, badgeKinds, drawBadge } from './badge.ts'
import { drawBanner } from './banner.ts'
import { drawChart } from './chart.ts'
import { headPattern } from './head-pattern.ts'
import { createHeadSource, maxHead } from './head-source.ts'
import { createRenderer, type Picture } from './renderer.ts'
import { summarise } from './summary.ts'
import { themeNames, themes } from './theme.ts'

export interface PicturesOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  readonly history: Pick<History, 'range' | 'uptime'>
  readonly maintenanceOf: MaintenanceOf
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

/** The first bytes of each type, as text. */
const examples: Readonly<Record<Picture['type'], string>> = {
  'image/png': '\x89PNG',
  'image/svg+xml': '<svg xmlns="http://www.w3.org/2000/svg"/>',
}

/** The description of a picture. */
interface PictureDocs<P extends Parameters> {
  readonly summary: string
  readonly description: string
  readonly type: Picture['type']
  readonly parameters: P
  readonly params?: Record<string, TSchema>
  /** Example detail of an invalid parameter. */
  readonly mistake: string
}

/** The schema of the route of a picture. */
const pictureSchema = <P extends Parameters>(place: ServerPlace, docs: PictureDocs<P>) => ({
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
    ...problems(429),
    ...problem(503, { code: 'TOO_MANY_PICTURES', detail: 'Too many pictures are being rendered; try again in a moment.' }),
  },
})

/** @returns the SVG as PNG; rendered in a thread pool */
const toPng = async (svg: string): Promise<Buffer> =>
  (await loadSharp())(Buffer.from(svg)).timeout({ seconds: 5 }).png({ compressionLevel: 7 }).toBuffer()

/** @throws RequestError INVALID_PARAMETER */
function readUuid(request: FastifyRequest): string {
  const { uuid } = request.params as { uuid: string }
  const normalised = normaliseUuid(uuid)
  if (normalised === undefined)
    throw invalidParameter(`Parameter "uuid" is ${shown(uuid)}; expected a UUID, with or without dashes.`)
  return normalised
}

/** Banner, badge, chart and heads of each server. */
export function registerPictures(app: FastifyInstance, options: PicturesOptions): void {
  const { fleet, clock, history, maintenanceOf, log, icon, headsUrl } = options
  const renderer = createRenderer()
  const heads = headsUrl === undefined ? undefined : createHeadSource(headsUrl, log, clock)
  app.addHook('onClose', async () => heads?.close())

  function addPicture<P extends Parameters>(
    path: string,
    docs: PictureDocs<P>,
    limit: 'clientPictures' | 'clientHeads',
    read: (
      watcher: Watcher,
      values: ParameterValues<P>,
      request: FastifyRequest,
      /** Counts what a reply costs against the limit of the client. */
      count: () => void,
    ) => Promise<Omit<Picture, 'type'>>,
  ): void {
    const rateLimit = app.clientLimits.rateLimit(limit)
    for (const place of serverPlaces(fleet))
      app.get(place.path + path, { schema: pictureSchema(place, docs) }, async (request, reply) => {
        const count = () => rateLimit.count(request, reply)
        const picture = await read(place.watcher(request), request.query as ParameterValues<P>, request, count)
        return sendPrepared(
          request,
          reply,
          await renderer.reply({ ...picture, type: docs.type }, { client: request.client, count }),
        )
      })
  }

  const bannerDocs = {
    summary: 'Banner of the server',
    description: 'Icon, name, MOTD, players, tick rate, version and join address as one picture, for forums and chats.',
    type: 'image/png',
    parameters: bannerParameters,
    mistake: 'Parameter "width" is "2000"; expected an integer from 300 to 1200.',
  } as const
  addPicture('/banner.png', bannerDocs, 'clientPictures', async (watcher, { width, theme: name }) => {
    const snapshot = watcher.snapshot()
    const summary = summarise(snapshot, maintenanceOf(snapshot.server))
    const address = joinOf(fleet.settingsOf(snapshot.server))?.address ?? null
    const png = await icon(snapshot)
    return {
      key: JSON.stringify(['banner', summary, createHash('sha1').update(png).digest('base64url'), width, name, address]),
      render: async () => {
        const banner = await drawBanner(summary, png, width, themes[name], address)
        await nextTurn()
        return toPng(banner)
      },
    }
  })

  const badgeDocs = {
    summary: 'Badge of the server',
    description: 'One value as a badge for a README.',
    type: 'image/svg+xml',
    parameters: badgeParameters,
    mistake: `Parameter "show" is "ping"; expected ${badgeKinds.join(', ')}.`,
  } as const
  addPicture('/badge.svg', badgeDocs, 'clientPictures', async (watcher, { show }) => {
    const summary = summarise(watcher.snapshot(), maintenanceOf(watcher.server))
    const content = badgeContent(show, summary, show === 'uptime' ? await history.uptime(watcher.server, 90) : undefined)
    return { key: JSON.stringify(['badge', content]), render: async () => drawBadge(content) }
  })

  const chartDocs = {
    summary: 'Chart of recorded values',
    description: 'A chart of series with the same unit, with gaps where values are unknown.',
    type: 'image/png',
    parameters: chartParameters,
    mistake: 'Parameter "height" is "10"; expected an integer from 100 to 800.',
  } as const
  addPicture('/chart.png', chartDocs, 'clientPictures', async (watcher, values) => {
    const { server } = watcher
    const { series: names, range: period, width, height, theme: name } = values
    const [first, ...others] = names.map((name) => seriesOf[name].unit)
    if (others.some((unit) => unit !== first)) {
      throw invalidParameter(
        `Parameter "series" is ${shown(names.join(','))}; expected series of the same unit, such as tickTimeMean,tickTimeP99.`,
      )
    }
    const points = Math.min(400, Math.max(10, Math.floor(width / 3)))
    return {
      // The time axis moves even if the server sends nothing.
      key: JSON.stringify(['chart', server, watcher.snapshot().at, Math.floor(clock.wall() / 30_000), values]),
      render: async () => {
        const recorded = await history.range(server, { names, range: period, points })
        const chart = await drawChart({ server, values: recorded, width, height, theme: themes[name] })
        await nextTurn()
        return toPng(chart)
      },
    }
  })

  const headDocs = {
    summary: 'Head of a player',
    description: 'A pattern generated from the UUID, or with HEADS_URL the head from there.',
    type: 'image/png',
    parameters: headParameters,
    mistake: 'Parameter "size" is "4"; expected an integer from 8 to 128.',
    params: {
      uuid: Type.String({
        description: 'UUID of the player, with or without dashes',
        examples: ['069a79f4-44e9-4726-a5be-fca90e38aaf5'],
      }),
    },
  } as const
  addPicture('/players/:uuid/head.png', headDocs, 'clientHeads', async (_watcher, { size }, request, count) => {
    const uuid = readUuid(request)
    const head = await heads?.get(uuid, count)
    const { pixels, side } = headPattern(uuid)
    return {
      key: JSON.stringify(['head', uuid, size, head !== undefined]),
      render: async () => {
        const sharp = await loadSharp()
        const source = head === undefined ? sharp(pixels, { raw: { width: side, height: side, channels: 3 } }) : sharp(head)
        return source.resize(size, size, { kernel: 'nearest' }).png().toBuffer()
      },
    }
  })
}
