import { toInteger } from '../decimal.ts'
import type { Player } from '../player.ts'

export interface PlayerListReply {
  /** The number stated by the server, independent of the names. */
  readonly online: number
  readonly max?: number
  /** Absent if the names cannot be separated reliably. */
  readonly players?: readonly Player[]
}

/** 1.13 and later; 1.12 and earlier, and old Bukkit; Cuberite. */
const heads = [
  /^There are (?<online>\d+) of a max(?: of)? (?<max>\d+) players online:/,
  /^There are (?<online>\d+)\/(?<max>\d+) players online:/,
  /^Players \((?<online>\d+)\):/,
] as const

/** Parses the reply to `list uuids` or `list`; undefined for any other text. */
export function parsePlayerList(reply: string): PlayerListReply | undefined {
  for (const head of heads) {
    const match = head.exec(reply)
    const online = toInteger(match?.groups?.online)
    if (match === null || online === undefined) continue
    const max = toInteger(match.groups?.max)
    const players = split(reply.slice(match[0].length).trim(), online)
    return { online, ...(max !== undefined && { max }), ...(players && { players }) }
  }
  return undefined
}

/**
 * Names may contain commas and spaces (Bedrock players behind a proxy, plugins), so a split is used only if it yields the stated
 * number of players. A UUID after each name makes the split unambiguous.
 */
function split(text: string, online: number): readonly Player[] | undefined {
  if (text === '') return online === 0 ? [] : undefined
  const withId = [...text.matchAll(/(.+?) \(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)(?:, ?|\n|$)/gisy)]
  const covered = withId.reduce((sum, [match]) => sum + match.length, 0)
  if (withId.length === online && covered === text.length) {
    return withId.map(([, name = '', id = '']) => ({ name, id: id.toLowerCase() }))
  }
  const names = text.split(', ')
  return names.length === online && withId.length === 0 ? names.map((name) => ({ name })) : undefined
}
