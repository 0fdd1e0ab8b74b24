import type { Fields } from '../../fields.ts'
import { parseDifficulty } from '../../protocol/difficulty.ts'
import { parseForgeTps, parseNeoForgeTps } from '../../protocol/forge-tps.ts'
import { isCuberiteTps, parsePaperMspt, parsePaperTps } from '../../protocol/paper-tps.ts'
import { parsePlayerList } from '../../protocol/player-list.ts'
import type { RconCommand } from '../../protocol/rcon-commands.ts'
import { parseServerVersion } from '../../protocol/server-version.ts'
import { parseTickQuery } from '../../protocol/tick-query.ts'
import { parseDay, parseGameTime, parseTimeOfDay, type TimeForm } from '../../protocol/time-query.ts'

/** What the replies so far say about the server, as far as it decides which commands make sense. */
export interface ServerTraits {
  readonly timeForm?: TimeForm | undefined
  /** The server has no `tick query`. */
  readonly withoutTickQuery: boolean
  /** The server has a `tps`, so it is Paper, a fork of it, or Cuberite. */
  readonly withTps: boolean
}

/** Reads some fields with one command, of which servers know different forms. */
export interface CommandReader {
  readonly name:
    | 'ticks'
    | 'gameTime'
    | 'players'
    | 'tps'
    | 'mspt'
    | 'forge'
    | 'neoforge'
    | 'timeOfDay'
    | 'day'
    | 'difficulty'
    | 'version'
  /** Milliseconds between two reads; 0: in every poll. */
  readonly intervalMs: number
  /** Tried in this order until the server knows one. */
  readonly commands: readonly RconCommand[]
  /** False: not sent now. */
  readonly when?: (traits: ServerTraits) => boolean
  /** @returns undefined where the text is not understood */
  readonly read: (reply: string, at: number) => Partial<Fields> | undefined
}

const seconds = 1_000
const minutes = 60 * seconds

const field = <K extends keyof Fields>(name: K, value: Fields[K] | undefined): Partial<Fields> | undefined =>
  value === undefined ? undefined : ({ [name]: value } as Partial<Fields>)

/** In the order in which they are sent; where two give the same field, the earlier one wins. */
export const commandReaders: readonly CommandReader[] = [
  {
    name: 'gameTime',
    intervalMs: 0,
    commands: ['time query gametime'],
    read(reply, at) {
      const time = parseGameTime(reply)
      return time && { tickCount: { ticks: time.ticks, at } }
    },
  },
  {
    name: 'players',
    intervalMs: 0,
    // Plugins replace `list`; the game's own is still there under its full name.
    commands: ['list uuids', 'minecraft:list uuids', 'list'],
    read(reply) {
      const list = parsePlayerList(reply)
      return (
        list && {
          playersOnline: list.online,
          ...(list.max !== undefined && { playersMax: list.max }),
          ...(list.players && { players: { players: list.players, complete: true } }),
        }
      )
    },
  },
  {
    name: 'ticks',
    intervalMs: 0,
    commands: ['tick query'],
    read(reply) {
      const query = parseTickQuery(reply)
      return (
        query && {
          tickDurationMean: query.mean,
          tickDurationP50: query.p50,
          tickDurationP95: query.p95,
          tickDurationP99: query.p99,
          tickRateTarget: query.target,
          tickFrozen: query.state === 'frozen',
          tickSprinting: query.state === 'sprinting',
        }
      )
    },
  },
  {
    name: 'tps',
    intervalMs: 0,
    commands: ['tps'],
    read(reply) {
      return isCuberiteTps(reply) ? {} : field('paperTickRates', parsePaperTps(reply))
    },
  },
  {
    name: 'mspt',
    intervalMs: 0,
    commands: ['mspt'],
    when: ({ withoutTickQuery }) => withoutTickQuery,
    read: (reply) => field('tickDurationMean', parsePaperMspt(reply)?.['5s']),
  },
  {
    name: 'timeOfDay',
    intervalMs: 15 * seconds,
    commands: ['time query daytime'],
    when: ({ timeForm }) => timeForm === 'classic',
    read: (reply) => field('worldTimeOfDay', parseTimeOfDay(reply)),
  },
  {
    name: 'timeOfDay',
    intervalMs: 15 * seconds,
    commands: ['time query time'],
    when: ({ timeForm }) => timeForm === 'clocks',
    read: (reply) => field('worldTimeOfDay', parseTimeOfDay(reply)),
  },
  {
    name: 'day',
    intervalMs: minutes,
    commands: ['time query day'],
    when: ({ timeForm }) => timeForm === 'classic',
    read: (reply) => field('worldDay', parseDay(reply)),
  },
  {
    name: 'day',
    intervalMs: minutes,
    commands: ['time query day repetition'],
    when: ({ timeForm }) => timeForm === 'clocks',
    read: (reply) => field('worldDay', parseDay(reply)),
  },
  { name: 'forge', intervalMs: 0, commands: ['forge tps'], read: parseForgeTps },
  { name: 'neoforge', intervalMs: 0, commands: ['neoforge tps'], read: parseNeoForgeTps },
  {
    name: 'difficulty',
    intervalMs: minutes,
    commands: ['difficulty'],
    read: (reply) => field('difficulty', parseDifficulty(reply)),
  },
  {
    name: 'version',
    intervalMs: 60 * minutes,
    commands: ['version'],
    // Paper would send a request to its maker for newer builds, and the status says what it is.
    when: ({ withTps }) => !withTps,
    read: parseServerVersion,
  },
]
