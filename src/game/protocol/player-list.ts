import { toInteger } from './decimal.ts'

export interface ListedPlayer {
  readonly name: string
  /** Dashed lower-case UUID; absent where the server does not tell it. */
  readonly id?: string
}

export interface PlayerListReply {
  /** As the server states it, whatever the names look like. */
  readonly online: number
  readonly max?: number
  /** Absent where the names cannot be told apart for certain. */
  readonly players?: readonly ListedPlayer[]
}

/** From 1.16; 1.13 to 1.15; to 1.12 and old Bukkit; Cuberite. */
const heads = [
  /^There are (?<online>\d+) of a max(?: of)? (?<max>\d+) players online:/,
  /^There are (?<online>\d+)\/(?<max>\d+) players online:/,
  /^Players \((?<online>\d+)\):/,
] as const

/** Reply to `list uuids` or `list`; undefined for another text. */
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
 * Names may hold commas and spaces (Bedrock players behind a proxy, plugins), so a split counts only where it gives as many
 * players as the server states; a UUID after each name ends it beyond doubt.
 */
function split(text: string, online: number): readonly ListedPlayer[] | undefined {
  if (text === '') return online === 0 ? [] : undefined
  const withId = [...text.matchAll(/(.+?) \(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)(?:, ?|\n|$)/gisy)]
  const covered = withId.reduce((sum, [match]) => sum + match.length, 0)
  if (withId.length === online && covered === text.length) {
    return withId.map(([, name = '', id = '']) => ({ name, id: id.toLowerCase() }))
  }
  const names = text.split(', ')
  return names.length === online && withId.length === 0 ? names.map((name) => ({ name })) : undefined
}
