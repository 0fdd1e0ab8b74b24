import type { Fields } from '../../fields.ts'
import { gameModes, parseGameMode } from '../../protocol/game-mode.ts'
import { stripFormatting, truncate } from '../../protocol/text.ts'
import type { Loader } from './loader.ts'
import type { LogFacts } from './log-follower.ts'
import { integerIn, type Properties } from './server-properties.ts'

const maxLevelName = 1_000
const difficulties = ['peaceful', 'easy', 'normal', 'hard']

/** Converts `server.properties` to fields. Invalid values are absent. */
export function propertyFields(properties: Properties): Partial<Fields> {
  const text = (key: string) => properties.get(key)?.trim() || undefined
  const number = (key: string, min: number, as: keyof Fields) => {
    const value = integerIn(properties, key, min, 2 ** 31 - 1)
    return value === undefined ? {} : { [as]: value }
  }
  // A number up to 1.13, a name since then.
  const mode = text('gamemode')
  const defaultGameMode = /^[0-3]$/.test(mode ?? '') ? gameModes[Number(mode)] : parseGameMode(mode)
  const given = text('difficulty')?.toLowerCase()
  const difficulty = difficulties.find((name, index) => given === String(index) || given === name)
  const motd = properties.get('motd')
  const ip = text('server-ip')
  const levelName = text('level-name')
  return {
    ...(motd !== undefined && { motd: stripFormatting(motd) }),
    ...(ip !== undefined && { ip }),
    ...number('server-port', 1, 'port'),
    ...number('max-players', 0, 'playersMax'),
    ...number('view-distance', 1, 'viewDistance'),
    ...number('pause-when-empty-seconds', -1, 'pauseWhenEmpty'),
    ...(defaultGameMode && { defaultGameMode }),
    ...(difficulty !== undefined && { difficulty }),
    ...(levelName !== undefined && { levelName: truncate(levelName, maxLevelName) }),
  }
}

/** The loader in the log takes precedence over the installed one. If there is a log but no loader, the server is vanilla. */
export function loaderFields(facts: LogFacts, found: Loader | undefined): Partial<Fields> {
  const { version, startupDuration } = facts
  const loader = facts.loader ?? found?.loader ?? (version === undefined ? undefined : 'vanilla')
  const loaderVersion = facts.loader === undefined ? found?.version : facts.loaderVersion
  return {
    ...(version !== undefined && { version }),
    ...(startupDuration !== undefined && { startupDuration }),
    ...(loader !== undefined && { loader, software: loader }),
    ...(loaderVersion !== undefined && { loaderVersion }),
  }
}
