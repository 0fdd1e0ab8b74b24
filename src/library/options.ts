import { readServer, toServer } from '../config/read-server.ts'
import { findConflicts } from '../config/server-problems.ts'
import { settingsOfServer } from '../config/settings.ts'
import { poll as pollTable } from '../game/poll-settings.ts'
import { findShortStaleAfter, minStaleAfter, type PollSettings, type ServerSettings } from '../game/server-settings.ts'
import type { SourceName } from '../game/sources/names.ts'
import { type Given, readSettings } from '../settings/read.ts'
import { isRecord } from '../util/is-record.ts'

/** A source without options of its own below: a text, or texts by name. */
type OtherSources = {
  readonly [N in Exclude<SourceName, 'status' | 'rcon' | 'management' | 'query' | 'jmx' | 'directory'>]?:
    | string
    | Readonly<Record<string, string>>
}

/** Which server to read, and how: the same keys and values as in an entry of `servers` in the configuration file. */
export interface ServerOptions extends OtherSources {
  /** `host`, `host:port` or `bedrock://host:port`; required unless `directory` is set. */
  readonly address?: string
  /** Name of the server in its snapshots; default `Server`. */
  readonly name?: string
  readonly group?: string
  /** Host name sent in the handshake, for a proxy that routes by it; default: the host of the address. */
  readonly hostname?: string
  /** Version of the PROXY protocol that the game port expects. */
  readonly proxyProtocol?: 'v1' | 'v2'
  /** Part of the message of the day, or a `/pattern/`, that a proxy shows while the server is stopped. */
  readonly asleepMotd?: string
  /** `socks5://host:port` or `http://host:port`: a proxy through which the server is reached over TCP. */
  readonly via?: string
  /** `user:password` for the proxy. */
  readonly viaCredentials?: string
  /** Path of a file that contains them. */
  readonly viaCredentialsFile?: string
  readonly rcon?: {
    /** `host` or `host:port`; default port 25575. */
    readonly address?: string
    readonly password?: string
    /** Path of a file with the password. */
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
  /** The server's directory on this machine. */
  readonly directory?: string
}

type PollOptions = { readonly [K in keyof PollSettings]?: PollSettings[K] | undefined }

const knownKeys = new Set(
  settingsOfServer.flatMap(({ file, secret }) => (file === undefined ? [] : secret ? [file, `${file}File`] : [file])),
)

/** Flattens nested options to dotted keys. */
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
    } else problems.push(`${key} is not an option; expected one of ${[...knownKeys].join(', ')}`)
  }
  return found
}

function parsePoll(options: PollOptions, problems: string[]): PollSettings | undefined {
  const file = new Map<string, Given>()
  for (const name of Object.keys(pollTable) as (keyof typeof pollTable)[]) {
    const value = options[name]
    if (value !== undefined) file.set(pollTable[name].file, { from: name, inFile: true, text: `${value}ms` })
  }
  const { interval, timeout, staleAfter } = readSettings(pollTable, { flags: {}, env: {}, file }, problems).values
  if (interval === undefined || timeout === undefined) return undefined
  problems.push(...findShortStaleAfter({ interval, timeout, staleAfter }, 'staleAfter'))
  return { interval, timeout, staleAfter: staleAfter ?? minStaleAfter({ interval, timeout }) }
}

/** @throws TypeError naming every invalid option, never the value of a secret */
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
