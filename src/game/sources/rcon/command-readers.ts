import { maxItems } from '../../check.ts'
import type { Fields } from '../../fields.ts'
import type { RconCommand } from '../../protocol/rcon/commands.ts'
import { parseForgeTps, parseNeoForgeTps } from '../../protocol/rcon/forge-tps.ts'
import { isCuberiteTps, parsePaperMspt, parsePaperTps } from '../../protocol/rcon/paper-tps.ts'
import { parsePlayerList } from '../../protocol/rcon/player-list.ts'
import { parseDifficulty } from '../../protocol/rcon/reply.ts'
import { parseServerVersion } from '../../protocol/rcon/server-version.ts'
import { parseTickQuery } from '../../protocol/rcon/tick-query.ts'
import { parseDay, parseGameTime, parseTimeOfDay, type TimeForm } from '../../protocol/rcon/time-query.ts'

/** Facts about the server from earlier replies. Decides which commands are sent. */
export interface ServerTraits {
  readonly timeForm?: TimeForm | undefined
  /** The server does not support `tick query`. */
  readonly withoutTickQuery: boolean
  /** The server does not support `tps`: it is not Spigot, one of its forks such as Paper, or Cuberite. */
  readonly withoutTps: boolean
}

/** Reads some fields with one command, which may have several forms. */
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
  /** Sent first in every poll, since ticks and players change fastest. */
  readonly isInEveryPoll?: true
  /** Milliseconds between two reads; 0 for every poll, or as often as the commands in every poll leave room. */
  readonly intervalMs: number
  /** If its reply has not changed, it is not parsed again, and the fields remain the same objects. */
  readonly isOftenUnchanged?: true
  /** Tried in order until the server supports one. */
  readonly commands: readonly RconCommand[]
  /** Returns false if the command must not be sent. */
  readonly when?: (traits: ServerTraits) => boolean
  /** Returns undefined if the reply is not understood. */
  readonly read: (reply: string, at: number) => Partial<Fields> | undefined
}

const seconds = 1_000
const minutes = 60 * seconds

const field = <K extends keyof Fields>(name: K, value: Fields[K] | undefined): Partial<Fields> | undefined =>
  value === undefined ? undefined : ({ [name]: value } as Partial<Fields>)

type TimeQuery = Extract<RconCommand, `time query ${string}`>

/** Plugins such as EssentialsX replace `time` and `list`; the commands of the game are available by their full names. */
const withFullName = (command: TimeQuery): readonly RconCommand[] => [command, `minecraft:${command}`]

const timeOfDay = (form: TimeForm, command: TimeQuery): CommandReader => ({
  name: 'timeOfDay',
  intervalMs: 15 * seconds,
  commands: withFullName(command),
  when: ({ timeForm }) => timeForm === form,
  read: (reply) => field('worldTimeOfDay', parseTimeOfDay(reply)),
})

const day = (form: TimeForm, command: TimeQuery): CommandReader => ({
  name: 'day',
  intervalMs: minutes,
  commands: withFullName(command),
  when: ({ timeForm }) => timeForm === form,
  read: (reply) => field('worldDay', parseDay(reply)),
})

/** In the order in which they are sent. If two provide the same field, the first one wins. */
export const commandReaders: readonly CommandReader[] = [
  {
    name: 'gameTime',
    isInEveryPoll: true,
    intervalMs: 0,
    commands: withFullName('time query gametime'),
    read(reply, at) {
      const time = parseGameTime(reply)
      return time && { tickCount: { ticks: time.ticks, at } }
    },
  },
  {
    name: 'players',
    isInEveryPoll: true,
    isOftenUnchanged: true,
    intervalMs: 0,
    commands: ['list uuids', 'minecraft:list uuids', 'list'],
    read(reply) {
      const list = parsePlayerList(reply)
      return (
        list && {
          playersOnline: list.online,
          ...(list.max !== undefined && { playersMax: list.max }),
          ...(list.players && {
            players: { players: list.players.slice(0, maxItems), complete: list.players.length <= maxItems },
          }),
        }
      )
    },
  },
  {
    name: 'ticks',
    isInEveryPoll: true,
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
    // The plugin spark replaces `tps`, and replies later than RCON can read.
    commands: ['tps', 'spigot:tps'],
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
  timeOfDay('classic', 'time query daytime'),
  timeOfDay('clocks', 'time query time'),
  day('classic', 'time query day'),
  day('clocks', 'time query day repetition'),
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
    // Spigot and its forks would check for updates over the internet, and their name is already in the status.
    when: ({ withoutTps }) => withoutTps,
    read: parseServerVersion,
  },
]
