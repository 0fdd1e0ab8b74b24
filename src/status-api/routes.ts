import type { FieldName } from '../game/fields.ts'
import type { KnownFields, ServerSnapshot } from '../game/snapshot.ts'
import { Players } from '../http/players.ts'
import type { TSchema } from '../util/schema.ts'
import { fullInformationExample, metadataExample, playersExample } from './examples.ts'
import { FullInformation, Metadata, single, singleDecimal, singleGameMode, singleInteger } from './schemas.ts'
import { decimalText, fullInformation, loaderVersion, metadata, players, tickTime, timeReference } from './values.ts'

/** One JSON route of a server. */
export interface StatusRoute {
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly schema: TSchema
  readonly example: unknown
  /** The fields in the reply; their sources are named in X-Snapshot-Source. */
  readonly fields: readonly FieldName[]
  /** @param base path of the server's routes: `/api/v1` */
  value(snapshot: ServerSnapshot, base: string): unknown
}

interface SingleRoute extends Pick<StatusRoute, 'path' | 'summary' | 'description'> {
  readonly field: FieldName
  readonly example: string
  /** Default: any text. */
  readonly schema?: TSchema
  /** Default: the value of the field. */
  readonly text?: (fields: KnownFields) => string | number | undefined
}

/** A route whose reply is a list of one text. */
const singleRoute = ({ field, text, example, schema = single(), ...docs }: SingleRoute): StatusRoute => ({
  ...docs,
  schema,
  example: [example],
  fields: [field],
  value: ({ fields }) => [String((text ? text(fields) : fields[field]?.value) ?? '')],
})

const metadataFields = [
  'motd',
  'playersMax',
  'playersOnline',
  'players',
  'version',
  'protocol',
  'secureChatEnforced',
] as const satisfies readonly FieldName[]

/** Every JSON route of a server; the favicon, which uses content negotiation, is in `favicon.ts`. */
export const statusRoutes: readonly StatusRoute[] = [
  {
    path: '/playernames',
    summary: 'Players online',
    description: 'The full list if a source provides it, else the sample in the status.',
    schema: Players,
    example: playersExample,
    fields: ['players'],
    value: ({ fields }) => players(fields),
  },
  singleRoute({
    path: '/defaultgamemode',
    summary: 'Default game mode',
    description: 'The game mode of players who join for the first time.',
    field: 'defaultGameMode',
    schema: singleGameMode,
    example: 'SURVIVAL',
  }),
  singleRoute({
    path: '/serverport',
    summary: 'Port of the server',
    description: 'The port that is polled, after SRV records were resolved.',
    field: 'port',
    schema: singleInteger,
    example: '25565',
  }),
  singleRoute({
    path: '/loaderversion',
    summary: 'Version of the mod loader or server software',
    description: 'The version of Fabric, Forge, Paper etc. without the name; empty for vanilla.',
    field: 'loaderVersion',
    text: loaderVersion,
    example: '0.16.10',
  }),
  singleRoute({
    path: '/minecraftversion',
    summary: 'Version of the game',
    description: 'The version of the game without the name of the server software.',
    field: 'version',
    example: '1.21.11',
  }),
  singleRoute({
    path: '/motd',
    summary: 'Message of the day',
    description:
      'Plain text, without formatting codes, control characters and direction marks; lines are separated by a line feed.',
    field: 'motd',
    example: 'A Minecraft Server',
  }),
  singleRoute({
    path: '/maxplayercount',
    summary: 'Maximum player count',
    description: 'The maximum number of players that the server reports.',
    field: 'playersMax',
    schema: singleInteger,
    example: '20',
  }),
  {
    path: '/servermetadata',
    summary: 'Metadata',
    description: 'The values shown in the server list of the game.',
    schema: Metadata,
    example: metadataExample,
    fields: metadataFields,
    value: metadata,
  },
  {
    path: '/servername',
    summary: 'Configured name',
    description: 'The configured name of the server.',
    schema: single(),
    example: ['survival'],
    fields: [],
    value: ({ server }) => [server],
  },
  singleRoute({
    path: '/currentplayercount',
    summary: 'Current player count',
    description: 'The number that the server reports, which may be higher than the number of players listed.',
    field: 'playersOnline',
    schema: singleInteger,
    example: '2',
  }),
  singleRoute({
    path: '/serverip',
    summary: 'IP of the server',
    description: '`server-ip` of server.properties if it is readable, else the resolved address that is polled.',
    field: 'ip',
    example: '203.0.113.7',
  }),
  singleRoute({
    path: '/ticks',
    summary: 'Tick counter',
    description: 'Ticks since the server started if a source counts them, else the game time of the world.',
    field: 'tickCount',
    text: ({ tickCount }) => tickCount?.value.ticks,
    schema: singleInteger,
    example: '123456',
  }),
  singleRoute({
    path: '/ticktime',
    summary: 'Mean milliseconds per tick',
    description: 'A decimal number of at most 7 significant digits.',
    field: 'tickDurationMean',
    text: (fields) => {
      const time = tickTime(fields)
      return time === undefined ? undefined : decimalText(time)
    },
    schema: singleDecimal,
    example: '12.3',
  }),
  {
    path: '/timereference',
    summary: 'When the tick counter was read',
    description:
      'Milliseconds on the monotonic clock of this service. The tick rate is the difference in ticks between two replies, divided by the difference of this value.',
    schema: singleInteger,
    example: ['98765432'],
    fields: ['tickCount'],
    value: (snapshot) => [String(timeReference(snapshot))],
  },
  {
    path: '/getall',
    summary: 'Everything in one reply',
    description: 'All values of the other routes, from the same snapshot.',
    schema: FullInformation,
    example: fullInformationExample,
    fields: [...metadataFields, 'ip', 'port', 'defaultGameMode', 'loaderVersion', 'tickCount', 'tickDurationMean'],
    value: fullInformation,
  },
]
