import type { TSchema } from 'typebox'
import type { FieldName } from '../game/fields.ts'
import type { KnownFields, ServerSnapshot } from '../game/snapshot.ts'
import { Players } from '../http/players.ts'
import { FullInformation, Metadata, single, singleDecimal, singleGameMode, singleInteger } from './schemas.ts'
import { decimalText, fullInformation, loaderVersion, metadata, players, tickTime, timeReference } from './values.ts'

/** One JSON route of a server. */
export interface StatusRoute {
  readonly path: string
  readonly summary: string
  readonly schema: TSchema
  /** What the reply is made from; their sources are named in X-Snapshot-Source. */
  readonly fields: readonly FieldName[]
  /** @param base path of the server's routes: `/api/v1` */
  value(snapshot: ServerSnapshot, base: string): unknown
}

function singleRoute(
  path: string,
  summary: string,
  field: FieldName,
  text: (fields: KnownFields) => string | number | undefined,
  schema = single(),
): StatusRoute {
  return { path, summary, schema, fields: [field], value: ({ fields }) => [String(text(fields) ?? '')] }
}

const metadataFields = [
  'motd',
  'playersMax',
  'playersOnline',
  'players',
  'version',
  'protocol',
  'secureChatEnforced',
] as const satisfies readonly FieldName[]

/** Every JSON route of a server; the favicon, which is negotiated, is in `favicon.ts`. */
export const statusRoutes: readonly StatusRoute[] = [
  {
    path: '/playernames',
    summary: 'Players online',
    schema: Players,
    fields: ['players'],
    value: ({ fields }) => players(fields),
  },
  singleRoute(
    '/defaultgamemode',
    'Default game mode',
    'defaultGameMode',
    ({ defaultGameMode }) => defaultGameMode?.value,
    singleGameMode,
  ),
  singleRoute('/serverport', 'Port polled', 'port', ({ port }) => port?.value, singleInteger),
  singleRoute('/loaderversion', 'Version of the mod loader or server software', 'loaderVersion', loaderVersion),
  singleRoute('/minecraftversion', 'Version of the game', 'version', ({ version }) => version?.value),
  singleRoute('/motd', 'Message of the day', 'motd', ({ motd }) => motd?.value),
  singleRoute('/maxplayercount', 'Maximum player count', 'playersMax', ({ playersMax }) => playersMax?.value, singleInteger),
  { path: '/servermetadata', summary: 'Metadata', schema: Metadata, fields: metadataFields, value: metadata },
  { path: '/servername', summary: 'Configured name', schema: single(), fields: [], value: ({ server }) => [server] },
  singleRoute(
    '/currentplayercount',
    'Current player count',
    'playersOnline',
    ({ playersOnline }) => playersOnline?.value,
    singleInteger,
  ),
  singleRoute('/serverip', 'IP of the server', 'ip', ({ ip }) => ip?.value),
  singleRoute('/ticks', 'Tick counter', 'tickCount', ({ tickCount }) => tickCount?.value.ticks, singleInteger),
  singleRoute(
    '/ticktime',
    'Mean milliseconds per tick',
    'tickDurationMean',
    (fields) => {
      const time = tickTime(fields)
      return time === undefined ? undefined : decimalText(time)
    },
    singleDecimal,
  ),
  {
    path: '/timereference',
    summary: 'Milliseconds on the monotonic clock of this service at which the tick counter was read',
    schema: singleInteger,
    fields: ['tickCount'],
    value: (snapshot) => [String(timeReference(snapshot))],
  },
  {
    path: '/getall',
    summary: 'Everything in one reply',
    schema: FullInformation,
    fields: [...metadataFields, 'ip', 'port', 'defaultGameMode', 'loaderVersion', 'tickCount', 'tickDurationMean'],
    value: fullInformation,
  },
]
