import { toInteger } from './decimal.ts'

export interface ServerVersion {
  /** The game version alone. */
  readonly version?: string
  readonly protocol?: number
  /** The server software if it is not vanilla. */
  readonly software?: string
}

/** Real replies are far shorter. Limits the time that the patterns take on a malicious one. */
const maxLength = 1_000

const vanilla =
  /^Server version info:\s*id = .*?\s*name = (?<version>.+?)\s*data = \d+\s*series = .*?\s*protocol = (?<protocol>\d+) \(/s
const bukkit = /This server is running (?<software>\S+) version (?<build>.+?) \(Implementing API version (?<version>[\d.]+)-/s

/** Parses the reply to `version` of vanilla since 1.21.6, with its lines joined, and of Bukkit; undefined for any other text. */
export function parseServerVersion(reply: string): ServerVersion | undefined {
  if (reply.length > maxLength) return undefined
  const own = vanilla.exec(reply)?.groups
  const protocol = toInteger(own?.protocol)
  if (own?.version !== undefined && protocol !== undefined) return { version: own.version, protocol }
  const { software, version } = bukkit.exec(reply)?.groups ?? {}
  if (software !== undefined && version !== undefined) return { software, version }
  // Paper checks for a newer build first, and sends its version after the command has ended.
  return reply.startsWith('Checking version, please wait') ? {} : undefined
}
