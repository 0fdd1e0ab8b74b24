import { isRecord } from '../../util/is-record.ts'
import { type GameMode, parseGameMode } from './game-mode.ts'
import type { Player } from './player.ts'
import { plainText } from './text.ts'
import { toCount } from './to-count.ts'
import { normaliseUuid } from './uuid.ts'

/** The only methods that are called; all of them are read-only (API 1.0.0 of 1.21.9 to 3.0.0 of 26.1). */
export const readingMethods = [
  'minecraft:players',
  'minecraft:server/status',
  'minecraft:serversettings/game_mode',
  'minecraft:serversettings/motd',
  'minecraft:serversettings/max_players',
  'minecraft:serversettings/pause_when_empty_seconds',
  'minecraft:serversettings/difficulty',
  'minecraft:serversettings/view_distance',
] as const

export type ReadingMethod = (typeof readingMethods)[number]

export interface ManagementStatus {
  readonly version?: string
  readonly protocol?: number
  readonly players?: readonly Player[]
}

/** The fields in the result of a `serversettings` method. Invalid values are absent. */
export interface ManagementSettings {
  readonly defaultGameMode?: GameMode
  readonly motd?: string
  readonly playersMax?: number
  /** Seconds; -1 means never. */
  readonly pauseWhenEmpty?: number
  readonly difficulty?: string
  readonly viewDistance?: number
}

/** A result is either the value itself or an object with the value under `key`. */
const unwrap = (result: unknown, key: string): unknown => (isRecord(result) && key in result ? result[key] : result)
const integer = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined)

/** Parses the result of a `serversettings` method. */
export function parseSetting(method: ReadingMethod, result: unknown): ManagementSettings {
  switch (method) {
    case 'minecraft:serversettings/game_mode': {
      const defaultGameMode = parseGameMode(unwrap(result, 'mode'))
      return defaultGameMode === undefined ? {} : { defaultGameMode }
    }
    case 'minecraft:serversettings/motd': {
      const motd = unwrap(result, 'message')
      // The setting is a string; later versions might send a text component.
      return typeof motd === 'string' || (isRecord(motd) && motd !== result) ? { motd: plainText(motd) } : {}
    }
    case 'minecraft:serversettings/max_players':
      return numberAs('playersMax', toCount(unwrap(result, 'max')))
    case 'minecraft:serversettings/pause_when_empty_seconds':
      return numberAs('pauseWhenEmpty', integer(unwrap(result, 'seconds')))
    case 'minecraft:serversettings/view_distance':
      return numberAs('viewDistance', toCount(unwrap(result, 'distance')))
    case 'minecraft:serversettings/difficulty': {
      const difficulty = unwrap(result, 'difficulty')
      return typeof difficulty === 'string' && /^[a-z]{1,20}$/i.test(difficulty) ? { difficulty: difficulty.toLowerCase() } : {}
    }
    default:
      return {}
  }
}

const numberAs = (name: keyof ManagementSettings, value: number | undefined): ManagementSettings =>
  value === undefined ? {} : { [name]: value }

/** Parses a player object; undefined if it has no name. */
export function parsePlayer(value: unknown): Player | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '' || value.name.length > 64) return undefined
  const id = normaliseUuid(value.id)
  return { name: value.name, ...(id !== undefined && { id }) }
}

/** Parses a list of players, bare or under `players`; undefined for anything else. */
export function parsePlayers(result: unknown): readonly Player[] | undefined {
  const list = unwrap(result, 'players')
  if (!Array.isArray(list)) return undefined
  return list.flatMap((one) => parsePlayer(one) ?? [])
}

/** Parses the result of `server/status` or its heartbeat. The server omits `players` if no players are online. */
export function parseStatus(result: unknown): ManagementStatus {
  const status = unwrap(result, 'status')
  if (!isRecord(status)) return {}
  const version = isRecord(status.version) ? status.version : {}
  const protocol = toCount(version.protocol)
  const players = parsePlayers(status.players ?? (status.started === true ? [] : undefined))
  return {
    ...(typeof version.name === 'string' && { version: plainText(version.name, 100) }),
    ...(protocol !== undefined && { protocol }),
    ...(players && { players }),
  }
}

/** Returns `players/joined` for `minecraft:notification/players/joined` or `notification:players/joined`. */
export const eventName = (method: string): string => method.replace(/^(?:minecraft:)?notification[/:]/, '')

/** Returns the only parameter of a notification, which is passed by position or by name. */
export function eventParameter(params: unknown, name: string): unknown {
  const first = Array.isArray(params) ? params[0] : params
  return unwrap(first, name)
}

/** The upgrade of the world that a server runs while it starts, before players can join. */
export interface WorldUpgrade {
  readonly state: 'running' | 'finished' | 'failed'
  /** 0 to 1; only while running. */
  readonly progress?: number
}

/** Parses a world upgrade notification of API 3.0.0 (26.2); undefined for any other event or an invalid progress. */
export function parseWorldUpgrade(event: string, params: unknown): WorldUpgrade | undefined {
  switch (event) {
    case 'world/upgrade_started':
      return { state: 'running', progress: 0 }
    case 'world/upgrade_progress': {
      const progress = eventParameter(params, 'progress')
      const fits = typeof progress === 'number' && progress >= 0 && progress <= 1
      return fits ? { state: 'running', progress } : undefined
    }
    case 'world/upgrade_finished':
      return { state: 'finished' }
    case 'world/upgrade_failed':
      return { state: 'failed' }
    default:
      return undefined
  }
}
