import { gameModes } from '../game/protocol/game-mode.ts'
import { sources } from '../game/sources/index.ts'
import { Players } from '../http/players.ts'
import { type TSchema, Type } from '../util/schema.ts'

/** The description may be left out. */
const orNull = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], { ...(description !== undefined && { description }) })
const numberOrNull = (description: string) => orNull(Type.Number(), description)
const integerOrNull = (description: string) => orNull(Type.Integer(), description)

const gameModeTexts = [...gameModes, '']

export const Metadata = Type.Object(
  {
    DESCRIPTION: Type.String({ description: 'Message of the day: plain text, lines separated by a line feed' }),
    PLAYERS: Type.Object({
      MAX: integerOrNull('Maximum player count'),
      ONLINE: integerOrNull('Current player count as reported by the server; may exceed the number of players listed'),
      PLAYERS: Players,
    }),
    VERSION: Type.Object({
      version: Type.String({ description: 'Version of the game' }),
      protocol: integerOrNull('Protocol version of the server'),
    }),
    FAVICON: Type.String({ description: 'Path of the favicon' }),
    SECURE_CHAT_ENFORCED: orNull(Type.Boolean()),
  },
  { title: 'Metadata' },
)

export const FullInformation = Type.Object(
  {
    SERVER_IP: Type.String(),
    SERVER_PORT: integerOrNull('Port polled'),
    SERVER_NAME: Type.String(),
    DEFAULT_GAME_MODE: Type.String({ enum: gameModeTexts }),
    LOADER_VERSION: Type.String({ description: 'Empty for vanilla or unknown' }),
    METADATA: Metadata,
    TICKS: integerOrNull('Tick counter'),
    TICK_TIME: numberOrNull('Mean milliseconds per tick'),
    TIME_REFERENCE: Type.Integer({
      description: 'Milliseconds on the monotonic clock of this service at which TICKS was read',
    }),
  },
  { title: 'All values of a server', description: 'Unknown values are "" for strings and null for numbers and booleans.' },
)

/** An array with one string, which is empty if the value is unknown. */
export const single = (item: Parameters<typeof Type.String>[0] = {}): TSchema =>
  Type.Array(Type.String(item), { minItems: 1, maxItems: 1, description: 'One string; empty if unknown' })

export const singleGameMode = single({ enum: gameModeTexts })
export const singleInteger = single({ pattern: '^(-?\\d+)?$' })
export const singleDecimal = single({ pattern: '^(\\d+(\\.\\d+)?)?$' })

export const ServerNames = Type.Array(Type.String(), { description: 'The first is the primary server' })

const SourceName = Type.String({ enum: sources.map(({ name }) => name) })
const Moment = Type.String({ format: 'date-time' })
const Failure = Type.Object({ code: Type.String(), message: Type.String(), at: Moment }, { title: 'Source failure' })

export const Sources = Type.Object(
  {
    server: Type.String(),
    state: Type.String({
      description: 'up, down, asleep, hung (its main thread does not answer), unknown, or the progress of a world upgrade',
      examples: ['up', 'upgrading the world, 42 %'],
    }),
    asleep: orNull(
      Type.Boolean(),
      'Whether a proxy answers for the stopped server; null without MC_ASLEEP_MOTD and while unknown',
    ),
    mainThread: orNull(
      Type.Object({
        responsive: Type.Boolean({ description: 'false: the server accepts connections, but its main thread does not answer' }),
        delay: numberOrNull(
          'Response time of the last request in seconds; the time so far while there is no response; null if no source makes requests of it',
        ),
      }),
      'The thread that computes the ticks; null while the server is down and if no source can check it',
    ),
    worldUpgrade: orNull(
      Type.Object({
        state: Type.String({ enum: ['running', 'finished', 'failed'] }),
        progress: numberOrNull('0 to 1; null unless it is running'),
      }),
      'The world upgrade that the server performs while it starts (26.2 and later); null if there is none',
    ),
    proxy: orNull(
      Type.Object({
        software: Type.String(),
        acceptedVersions: Type.String({ description: 'Client versions that it accepts; empty if it does not report them' }),
      }),
      'The proxy that answers at the address; null if none was detected',
    ),
    sources: Type.Array(
      Type.Object({
        source: SourceName,
        configured: Type.Boolean(),
        target: orNull(Type.String(), 'Address or folder that is read'),
        state: Type.String({
          enum: ['off', 'pending', 'ok', 'partial', 'failed'],
          description:
            'off: not configured; pending: not polled yet; ok, partial (some parts could not be read: see lastError) or failed: the outcome of the last poll',
        }),
        lastError: orNull(Failure, 'The last failure, kept after the source has recovered'),
        lastSuccess: orNull(Moment),
        duration: numberOrNull('Duration of the last poll in seconds'),
        resting: Type.Array(Type.Object({ command: Type.String(), until: Moment }), {
          description: 'Commands that the server did not answer, and the time until which they are not sent again',
        }),
      }),
    ),
    fields: Type.Record(
      Type.String(),
      Type.Object({
        source: orNull(SourceName, 'The source that provided the value; null if it is unknown'),
        setting: orNull(
          Type.String(),
          'For an unknown value: the settings that would provide it, or those to check for a failing source; null if neither would help',
        ),
      }),
    ),
    discovery: Type.Array(
      Type.Object({
        provider: Type.String({ description: 'Type of the list, such as config, folder, file_sd or http_sd' }),
        list: Type.String({ description: 'File name, or host and last segment of the URL' }),
        state: Type.String({
          enum: ['pending', 'ok', 'failed'],
          description:
            'pending: not read yet; failed: it could not be used, and the servers of its last successful read are still watched',
        }),
        servers: integerOrNull('Number of watched servers of the list; null if it has never been read'),
        refused: Type.Integer({ description: 'Number of entries that are not watched because they are not valid' }),
        problems: Type.Array(Type.String(), { description: 'Why it failed, and why entries were refused (the first 10)' }),
        lastSuccess: orNull(Moment, 'Time of the last successful read'),
      }),
      { description: 'The lists that the watched servers come from; the same for every server' },
    ),
  },
  { title: 'Sources' },
)
