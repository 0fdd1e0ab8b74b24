import type { ServerSettings } from '../game/server-settings.ts'
import type { SettingTable, SliceOf } from '../settings/setting.ts'
import type { Clock } from '../util/clock.ts'

/** Maximum number of servers of one list. */
export const maxServers = 100_000
/** Maximum length of a message: a list of thousands of servers may have a mistake in each. Characters. */
const maxMessage = 10_000

/** A list of servers, or an entry of it, is not valid. The message has the reason, without secrets and paths. */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError'

  constructor(message: string, options?: ErrorOptions) {
    super(message.length > maxMessage ? `${message.slice(0, maxMessage)}...` : message, options)
  }
}

/** The result of `read`, or why it is refused. @throws any other error */
export function attempt<T>(read: () => T): T | DiscoveryError {
  try {
    return read()
  } catch (error) {
    if (error instanceof DiscoveryError) return error
    throw error
  }
}

export interface ParsedList {
  readonly servers: readonly ServerSettings[]
  /** Reasons why entries were ignored, one message each. */
  readonly refused: readonly string[]
}

/** The state of one list of servers: a file or a URL. */
export interface ServerList extends ParsedList {
  /** For clients: the name of a file, or the host and the last segment of a URL. */
  readonly name: string
  /** For the log: the whole path of a file, a URL without user name, password and query. Each list of a provider has another one. */
  readonly place: string
  /** Unix milliseconds of the last successful read; absent if there was none, so the servers are unknown. */
  readonly readAt?: number
  /** Why the last read failed; `servers` are those of the last successful read. */
  readonly error?: string
}

/** A running provider. */
export interface Provider {
  /** Lists in the order of the settings. They are looked at again after each call of `changed`. */
  lists(): readonly ServerList[]
  /** Resolves when each list has been read once, successfully or not. Never rejects. */
  readonly firstRead: Promise<void>
  /** Reads every list now, even if it seems unchanged. Never rejects. */
  reload(): Promise<void>
  close(): void
}

/** Dependencies of a provider. */
export interface ProviderContext {
  readonly clock: Clock
  /** To be called when a list has changed, failed or recovered. Should not throw; if it does, the lists must still be read. */
  readonly changed: () => void
  /**
   * Runs what reads a list in one piece and returns its result. If it holds the event loop for too long, that is logged once and counted.
   * @param place of the list, for the log
   */
  readonly measure: <T>(place: string, read: () => T) => T
  /** Path of the config file; absent if there is none. */
  readonly configFile?: string
  /**
   * Reads the config file, environment and flags again and returns their servers.
   * @throws DiscoveryError that lists every mistake
   */
  readonly readConfig: () => readonly ServerSettings[]
  /**
   * Parses a YAML text with one server or a list of servers, as in `servers` of the config file.
   * @param name of the file, for messages, and as the default name of a single server
   * @throws DiscoveryError that lists every mistake
   */
  readonly parseServers: (text: string, name: string) => readonly ServerSettings[]
  /**
   * Parses the settings of one server.
   * @param values strings by key, as in an entry of `servers`: `rcon.address`
   * @throws DiscoveryError that lists every mistake
   */
  readonly readServer: (values: ReadonlyMap<string, string>, place: string) => ServerSettings
}

/**
 * Describes a provider to the rest of the program: one module each, listed in `index.ts`. Settings, `--help`,
 * config file, precedence and docs are generated from that list.
 */
export interface ProviderDescriptor<N extends string = string, T extends SettingTable = SettingTable> {
  /** Name in the API and metrics: `file_sd`. */
  readonly name: N
  /** The source of its servers, for the docs: `target groups in files, as for file_sd of Prometheus`. */
  readonly title: string
  /** How its entries become servers, for the docs. */
  readonly meaning: string
  /** Names are unique among all settings. The first is the main one: it activates the provider. */
  readonly settings: T
  /** Whether the provider is active without its main setting, because its input exists. */
  isFound?(configFile: string | undefined): boolean
  /** Called only for active providers. */
  start(values: SliceOf<T>, context: ProviderContext): Provider
}

/** Infers the types of a provider's settings. */
export const defineProvider = <const N extends string, const T extends SettingTable>(
  provider: ProviderDescriptor<N, T>,
): ProviderDescriptor<N, T> => provider
