import { toInteger } from '../decimal.ts'

export interface ServerVersion {
  /** The game version alone. */
  readonly version?: string
  readonly protocol?: number
  /** The server software if it is not vanilla. */
  readonly software?: string
}

/** Real replies are far shorter. */
const maxLength = 1_000

const vanilla = ['Server version info:', 'id = ', 'name = ', 'data = ', 'series = ', 'protocol = ', ' (']
const bukkit = ['This server is running ', ' version ', ' (Implementing API version ', '-']

/** The text before each label, each label searched after the one before it; none if a label is missing. */
function textsBetween(labels: readonly string[], reply: string): readonly string[] {
  let from = 0
  const texts = labels.map((label) => {
    const at = from < 0 ? -1 : reply.indexOf(label, from)
    const text = reply.slice(from, at).trim()
    from = at < 0 ? -1 : at + label.length
    return text
  })
  return from < 0 ? [] : texts
}

/** Parses the reply to `version` of vanilla since 1.21.6, with its lines joined, and of Bukkit; undefined for any other text. */
export function parseServerVersion(reply: string): ServerVersion | undefined {
  if (reply.length > maxLength) return undefined
  const [before, , , name, data, , digits] = textsBetween(vanilla, reply)
  const protocol = toInteger(digits)
  if (before === '' && name && toInteger(data) !== undefined && protocol !== undefined) return { version: name, protocol }
  const [, software = '', , version = ''] = textsBetween(bukkit, reply)
  if (/^\S+$/.test(software) && /^[\d.]+$/.test(version)) return { software, version }
  // Paper checks for a newer build first, and sends its version after the command has ended.
  return reply.startsWith('Checking version, please wait') ? {} : undefined
}
