import { type TSchema, Type } from 'typebox'
import { gameModes } from '../game/protocol/game-mode.ts'
import { sources } from '../game/sources/index.ts'
import { Players } from '../http/players.ts'

const numberOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })
const integerOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

const gameModeTexts = [...gameModes, '']

export const Metadata = Type.Object(
  {
    DESCRIPTION: Type.String({ description: 'Message of the day: plain text, lines joined by a line feed' }),
    PLAYERS: Type.Object({
      MAX: integerOrNull('Maximum player count'),
      ONLINE: integerOrNull('Current player count as the server reports it; may exceed the players listed'),
      PLAYERS: Players,
    }),
    VERSION: Type.Object({
      version: Type.String({ description: 'Version of the game' }),
      protocol: integerOrNull('Protocol of the server'),
    }),
    FAVICON: Type.String({ description: 'Path of the favicon' }),
    SECURE_CHAT_ENFORCED: Type.Union([Type.Boolean(), Type.Null()]),
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
  { title: 'Full information', description: 'Unknown values are "" for texts and null for numbers and booleans.' },
)

/** An array holding one text; the text is empty where the value is unknown. */
export const single = (item: Parameters<typeof Type.String>[0] = {}): TSchema =>
  Type.Array(Type.String(item), { minItems: 1, maxItems: 1, description: 'One text; empty where unknown' })

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
      description: 'up, down, asleep, hung (its main thread does not answer), unknown, or how far the upgrade of its world is',
      examples: ['up', 'upgrading the world, 42 %'],
    }),
    asleep: Type.Union([Type.Boolean(), Type.Null()], {
      description:
        'Whether a proxy answers for the server, which is stopped; null without MC_ASLEEP_MOTD and while it is unknown',
    }),
    mainThread: Type.Union(
      [
        Type.Object({
          responsive: Type.Boolean({ description: 'false: the server accepts connections, but its main thread does not answer' }),
          delay: Type.Number({ description: 'Seconds from the last request to its answer; while it is not answered, so far' }),
        }),
        Type.Null(),
      ],
      { description: 'The thread that computes the ticks; null while the server is down and where no source knows' },
    ),
    worldUpgrade: Type.Union(
      [
        Type.Object({
          state: Type.String({ enum: ['running', 'finished', 'failed'] }),
          progress: numberOrNull('0 to 1; null unless it is running'),
        }),
        Type.Null(),
      ],
      {
        description:
          'The upgrade of the world, which the server makes while it starts (26.2 and later); null where there is none',
      },
    ),
    proxy: Type.Union(
      [
        Type.Object({
          software: Type.String(),
          acceptedVersions: Type.String({ description: 'Versions of the clients that it accepts; empty where it does not say' }),
        }),
        Type.Null(),
      ],
      { description: 'The proxy that answers at the address; null where none says that it is one' },
    ),
    sources: Type.Array(
      Type.Object({
        source: SourceName,
        configured: Type.Boolean(),
        target: Type.Union([Type.String(), Type.Null()], { description: 'Address or folder that is read' }),
        state: Type.String({
          enum: ['off', 'pending', 'ok', 'partial', 'failed'],
          description:
            'off: not configured; pending: not polled yet; ok, partial (some parts could not be read: see lastError) or failed: the outcome of the last poll',
        }),
        lastError: Type.Union([Failure, Type.Null()], { description: 'The last failure, kept when the source is ok again' }),
        lastSuccess: Type.Union([Moment, Type.Null()]),
        duration: Type.Union([Type.Number(), Type.Null()], { description: 'Seconds the last poll took' }),
        resting: Type.Array(Type.Object({ command: Type.String(), until: Moment }), {
          description: 'Commands that the server did not answer, and until when they are not sent again',
        }),
      }),
    ),
    fields: Type.Record(
      Type.String(),
      Type.Object({
        source: Type.Union([SourceName, Type.Null()], { description: 'Which source gave the value; null: it is unknown' }),
        setting: Type.Union([Type.String(), Type.Null()], {
          description:
            'For an unknown value: the settings that would give it, or those to check of a source that fails; null where neither would help',
        }),
      }),
    ),
    discovery: Type.Array(
      Type.Object({
        provider: Type.String({ description: 'What the list is, such as config, folder, file_sd or http_sd' }),
        list: Type.String({ description: 'The name of the file, or the host and the last segment of the URL' }),
        state: Type.String({
          enum: ['pending', 'ok', 'failed'],
          description:
            'pending: not read yet; failed: it could not be used, and the servers that it gave before are still watched',
        }),
        servers: integerOrNull('Number of servers of it that are watched; null where it was never read'),
        refused: Type.Integer({ description: 'Number of its entries that are not watched because they do not fit' }),
        problems: Type.Array(Type.String(), { description: 'Why it failed, and why entries are refused (the first 10)' }),
        lastSuccess: Type.Union([Moment, Type.Null()], { description: 'When it was last read' }),
      }),
      { description: 'The lists that the watched servers come from, the same for every server' },
    ),
  },
  { title: 'Sources' },
)
