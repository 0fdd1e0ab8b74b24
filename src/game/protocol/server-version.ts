import { toInteger } from './decimal.ts'

export interface ServerVersion {
  /** The game version alone. */
  readonly version?: string
  readonly protocol?: number
  /** The server software, where it is not vanilla. */
  readonly software?: string
}

/** Both texts are far shorter, and the patterns take their time over a long one made for it. */
const longest = 1_000

const vanilla =
  /^Server version info:\s*id = .*?\s*name = (?<version>.+?)\s*data = \d+\s*series = .*?\s*protocol = (?<protocol>\d+) \(/s
const bukkit = /This server is running (?<software>\S+) version (?<build>.+?) \(Implementing API version (?<version>[\d.]+)-/s

/** Reply to `version`: vanilla from 1.21.6, its lines joined without a separator, and Bukkit; undefined for another text. */
export function parseServerVersion(reply: string): ServerVersion | undefined {
  if (reply.length > longest) return undefined
  const own = vanilla.exec(reply)?.groups
  const protocol = toInteger(own?.protocol)
  if (own?.version !== undefined && protocol !== undefined) return { version: own.version, protocol }
  const { software, version } = bukkit.exec(reply)?.groups ?? {}
  if (software !== undefined && version !== undefined) return { software, version }
  // Paper looks for a newer build first, and answers when nobody listens any more.
  return reply.startsWith('Checking version, please wait') ? {} : undefined
}
