import type { Clock } from '../clock.ts'
import type { SettingTable, SliceOf } from '../config/setting.ts'
import type { ServerSettings } from '../game/server.ts'

/** A list of servers cannot be used, as a whole or one entry of it. The message says why, without a secret and without a path. */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError'
}

export interface ParsedList {
  readonly servers: readonly ServerSettings[]
  /** Why entries were left out, one message each. */
  readonly refused: readonly string[]
}

/** One list of servers as a provider has read it: a file or a URL. */
export interface ServerList extends ParsedList {
  /** For clients: the name of a file, or the host and the last segment of a URL. */
  readonly name: string
  /** For the log: the whole path of a file, a URL without user name, password and query. */
  readonly place: string
  /** Unix milliseconds of the last successful read; absent: there was none, so that the servers are unknown. */
  readonly readAt?: number
  /** Why the last read failed; the servers are those of the read before. */
  readonly error?: string
}

/** A provider that runs. */
export interface Provider {
  /** In the order of the settings. A list that has been read is the same object until it is read again. */
  lists(): readonly ServerList[]
  /** Resolves when each list has been read once, successfully or not. Never rejects. */
  readonly firstRead: Promise<void>
  /** Reads every list now, also those that seem not to have changed. Never rejects. */
  reload(): Promise<void>
  close(): void
}

/** What every provider is given. */
export interface ProviderContext {
  readonly clock: Clock
  /** Calls for its lists: one has changed, or failed, or no longer fails. */
  readonly changed: () => void
  /** The config file; absent: there is none. */
  readonly configFile?: string
  /**
   * The servers of the config file, the environment and the flags, read again.
   * @throws DiscoveryError that names every mistake
   */
  readonly readConfig: () => readonly ServerSettings[]
  /**
   * The servers of a YAML text that holds one server or a list of them, as in `servers` of the config file.
   * @param name of the file, for messages and for a single server without a name
   * @throws DiscoveryError that names every mistake
   */
  readonly parseServers: (text: string, name: string) => readonly ServerSettings[]
  /**
   * The settings of one server.
   * @param values texts by key, as in an entry of `servers`: `rcon.address`
   * @throws DiscoveryError that names every mistake
   */
  readonly readServer: (values: ReadonlyMap<string, string>, place: string) => ServerSettings
}

/**
 * Everything that the rest of the program needs to know about a provider: one module each, listed in `index.ts`. Settings, `--help`,
 * config file, precedence and docs are made from that list.
 */
export interface ProviderDescriptor<N extends string = string, T extends SettingTable = SettingTable> {
  /** As clients and metrics see it: `file_sd`. */
  readonly name: N
  /** What it reads, for the docs: `target groups in files, as Prometheus reads them`. */
  readonly title: string
  /** How its entries become servers, for the docs. */
  readonly meaning: string
  /** Names are unique among all settings. The first is the main one: the provider is on where it is set. */
  readonly settings: T
  /** A provider that needs no setting to be on: whether there is something for it to read. */
  isFound?(configFile: string | undefined): boolean
  /** Called only where the provider is on. */
  start(values: SliceOf<T>, context: ProviderContext): Provider
}

/** Infers the types of a provider's settings. */
export const defineProvider = <const N extends string, const T extends SettingTable>(
  provider: ProviderDescriptor<N, T>,
): ProviderDescriptor<N, T> => provider
