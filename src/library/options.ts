import type { Given } from '../config/file.ts'
import { readSettings } from '../config/read.ts'
import { findConflicts, readServer, toServer } from '../config/server.ts'
import { settings, settingsOfServer } from '../config/settings.ts'
import { isRecord } from '../game/protocol/is-record.ts'
import type { PollSettings, ServerSettings } from '../game/server.ts'

/** Where and how a server is read: the same keys and texts as in an entry of `servers` in the configuration file. */
export interface ServerOptions {
  /** `host`, `host:port` or `bedrock://host:port`; needed unless `directory` is given. */
  readonly address?: string
  /** Name of the server in its snapshots; default `Server`. */
  readonly name?: string
  readonly group?: string
  readonly rcon?: {
    /** `host` or `host:port`, port 25575 if none is given. */
    readonly address?: string
    readonly password?: string
    /** Path of a file that holds the password. */
    readonly passwordFile?: string
  }
  /** The management protocol of Java 1.21.9 and later. */
  readonly management?: {
    /** `ws://host:port` or `wss://host:port`. */
    readonly url?: string
    readonly secret?: string
    readonly secretFile?: string
    /** Path of a PEM file with the certificate that signed the server's. */
    readonly ca?: string
    /** SHA-256 fingerprint of the server's certificate. */
    readonly fingerprint?: string
  }
  /** UDP query: `host` or `host:port`. */
  readonly query?: string
  /** A Jolokia agent. */
  readonly jmx?: { readonly url?: string; readonly user?: string; readonly password?: string; readonly passwordFile?: string }
  /** The server's own folder on this machine. */
  readonly directory?: string
}

type PollOptions = { readonly [K in keyof PollSettings]?: PollSettings[K] | undefined }

const knownKeys = new Set(
  settingsOfServer.flatMap(({ file, secret }) => (file === undefined ? [] : secret ? [file, `${file}File`] : [file])),
)

/** Nested options as dotted keys. */
function flatten(options: Readonly<Record<string, unknown>>, problems: string[], before = ''): Map<string, Given> {
  const found = new Map<string, Given>()
  for (const [name, value] of Object.entries(options)) {
    const key = before + name
    if (value === undefined) continue
    if (knownKeys.has(key)) {
      if (typeof value === 'string') found.set(key, { from: key, inFile: true, text: value })
      else problems.push(`${key} is of type ${typeof value}; expected a string`)
    } else if (isRecord(value) && [...knownKeys].some((known) => known.startsWith(`${key}.`))) {
      for (const [inner, given] of flatten(value, problems, `${key}.`)) found.set(inner, given)
    } else problems.push(`${key}: there is no such option; expected one of ${[...knownKeys].join(', ')}`)
  }
  return found
}

const pollTable = { interval: settings.pollInterval, timeout: settings.pollTimeout, staleAfter: settings.staleAfter } as const

function parsePoll(options: PollOptions, problems: string[]): PollSettings | undefined {
  const file = new Map<string, Given>()
  for (const name of Object.keys(pollTable) as (keyof typeof pollTable)[]) {
    const value = options[name]
    if (value !== undefined) file.set(pollTable[name].file, { from: name, inFile: true, text: `${value}ms` })
  }
  const { interval, timeout, staleAfter } = readSettings(pollTable, { flags: {}, env: {}, file }, problems).values
  if (interval === undefined || timeout === undefined) return undefined
  if (staleAfter !== undefined && staleAfter < interval)
    problems.push(`staleAfter is ${staleAfter} ms; expected at least the interval, ${interval} ms`)
  return { interval, timeout, staleAfter: staleAfter ?? 3 * interval }
}

/** @throws TypeError that names every option that does not fit, never a secret's value */
export function parseWatchOptions({ interval, timeout, staleAfter, ...options }: ServerOptions & PollOptions): {
  readonly server: ServerSettings
  readonly poll: PollSettings
} {
  const problems: string[] = []
  const read = readServer({ flags: {}, env: {}, file: flatten({ ...options }, problems) }, problems)
  problems.push(...findConflicts(read, 'watch()'))
  const poll = parsePoll({ interval, timeout, staleAfter }, problems)
  const server = toServer(read, true)
  if (problems.length > 0 || server === undefined || poll === undefined) throw new TypeError(problems.join('\n'))
  return { server, poll }
}
