import { Player } from '../../http/players.ts'
import { Type } from '../../util/schema.ts'
import { incidentKinds } from '../incidents.ts'
import { seriesNames } from '../values/series.ts'

const numberOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })
const momentOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

const Values = Type.Array(Type.Union([Type.Number(), Type.Null()]), {
  description: 'Oldest first, one per step; null where unknown',
})

export const HistoryReply = Type.Object(
  {
    server: Type.String(),
    from: Type.Integer({ description: 'Unix milliseconds; a little earlier than the range if that has no suitable step' }),
    to: Type.Integer({ description: 'Unix milliseconds; end of the newest step, which is not complete yet' }),
    step: Type.Integer({ description: 'Milliseconds' }),
    series: Type.Object(
      Object.fromEntries(
        seriesNames.map((name) => [name, Type.Optional(Type.Object({ min: Values, mean: Values, max: Values }))]),
      ),
    ),
  },
  {
    title: 'History',
    examples: [
      {
        server: 'survival',
        from: 1795269000000,
        to: 1795269600000,
        step: 300000,
        series: { players: { min: [2, null], mean: [2.5, null], max: [3, null] } },
      },
    ],
  },
)

export const UptimeReply = Type.Object(
  {
    server: Type.String(),
    since: momentOrNull('Unix milliseconds of the first record; null without records'),
    days: Type.Array(
      Type.Object({
        date: Type.String({ format: 'date', description: 'UTC' }),
        up: numberOrNull('Fraction of the known time in which the server was up; null without a record of the day'),
        known: Type.Number({ description: 'Fraction of the day in which the state of the server was known' }),
        maintenance: Type.Number({
          description: 'Fraction of the day in which the server was in maintenance, which is not among `known`',
        }),
        players: Type.Object({
          mean: numberOrNull('Average number of players'),
          max: numberOrNull('Maximum number of players at once'),
          maxAt: momentOrNull('Unix milliseconds of that maximum'),
        }),
      }),
      { description: 'Oldest first; the last is today' },
    ),
    record: Type.Object({
      players: numberOrNull('Record number of players at once'),
      at: momentOrNull('Unix milliseconds'),
    }),
  },
  {
    title: 'Uptime',
    examples: [
      {
        server: 'survival',
        since: 1787493600000,
        days: [
          {
            date: '2026-11-21',
            up: 0.998,
            known: 0.97,
            maintenance: 0.02,
            players: { mean: 3.2, max: 14, maxAt: 1795269600000 },
          },
        ],
        record: { players: 61, at: 1795269600000 },
      },
    ],
  },
)

const onlineOrNull = Type.Union([Type.Boolean(), Type.Null()], {
  description: 'Whether the player is online; null if the player was and there is no list of the players now',
})

export const PlayersReply = Type.Object(
  {
    server: Type.String(),
    players: Type.Array(
      Type.Object({
        player: Player,
        seconds: Type.Integer({ description: 'Time played in the range, of the sessions of which start and end are known' }),
        sessions: Type.Integer({ description: 'Number of sessions in the range' }),
        lastSeen: Type.Integer({ description: 'Unix milliseconds; now while the player is online' }),
        online: onlineOrNull,
      }),
      { description: 'Longest time first; requires a source that provides the full player list' },
    ),
  },
  {
    title: 'PlayersInRange',
    examples: [
      {
        server: 'survival',
        players: [
          {
            player: { ID: '069a79f4-44e9-4726-a5be-fca90e38aaf5', NAME: 'Notch' },
            ...{ seconds: 600, sessions: 1, lastSeen: 1795269600000, online: false },
          },
        ],
      },
    ],
  },
)

export const SessionsReply = Type.Object(
  {
    server: Type.String(),
    sessions: Type.Array(
      Type.Object({
        player: Player,
        from: momentOrNull('Unix milliseconds; null if the player joined before the server was watched'),
        to: momentOrNull(
          'Unix milliseconds; null while the player is online, and if the player left while the server was not watched',
        ),
        online: onlineOrNull,
      }),
      { description: 'Newest first; requires a source that provides the full player list' },
    ),
  },
  {
    title: 'Sessions',
    examples: [
      {
        server: 'survival',
        sessions: [
          {
            player: { ID: '069a79f4-44e9-4726-a5be-fca90e38aaf5', NAME: 'Notch' },
            from: 1795269000000,
            to: 1795269600000,
            online: false,
          },
        ],
      },
    ],
  },
)

export const IncidentsReply = Type.Object(
  {
    incidents: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The same for as long as the incident is kept' }),
        server: Type.String(),
        kind: Type.Enum([...incidentKinds], {
          description:
            '`down`: the server does not answer; `hung`: it accepts connections, but its main thread does not answer; `lag`: below 90 % of its tick rate for a minute or longer',
        }),
        from: Type.Integer({ description: 'Unix milliseconds' }),
        to: momentOrNull('Unix milliseconds at which the server was first known to be in another state; null before that'),
        ongoing: Type.Union([Type.Boolean(), Type.Null()], {
          description: 'Whether it goes on; null if the state of the server is not known now',
        }),
        knownAt: Type.Integer({ description: 'Unix milliseconds up to which it is known to have gone on' }),
        unknown: Type.Integer({
          description: 'Milliseconds since it began for which the state was not known, or nothing was recorded',
        }),
        reason: Type.Union([Type.String(), Type.Null()], { description: 'Why a server was down: code of the error; else null' }),
        tickRate: numberOrNull('While it lagged, the lowest number of ticks per second; else null'),
        notes: Type.Array(Type.Object({ at: Type.Integer({ description: 'Unix milliseconds' }), text: Type.String() }), {
          description: 'Notes of an admin, oldest first',
        }),
      }),
      { description: 'Newest first' },
    ),
  },
  {
    title: 'Incidents',
    examples: [
      {
        incidents: [
          {
            ...{
              id: '1-1795269000000',
              server: 'survival',
              kind: 'down',
              from: 1795269000000,
              to: 1795269600000,
              ongoing: false,
            },
            ...{ knownAt: 1795269600000, unknown: 0, reason: 'refused', tickRate: null },
            notes: [{ at: 1795269700000, text: 'The disk was full.' }],
          },
        ],
      },
    ],
  },
)
