import type { Setting } from '../../settings/setting.ts'
import type { AbortSignalLike } from '../../util/abortable.ts'
import type { HostPort, ServerAddress } from '../../util/address.ts'
import type { Clock } from '../../util/clock.ts'
import type { Log } from '../../util/log.ts'
import type { SourceError, SourceErrorCode, SourceProgress } from '../errors.ts'
import type { FieldName, Fields } from '../fields.ts'
import type { Network } from '../network.ts'
import type { PhaseRecorder } from '../phases.ts'
import type { Properties } from './directory/server-properties.ts'
import type { SourceName } from './names.ts'

/** The fields that one source read in one poll, or received in one event. */
export interface Reading {
  readonly source: SourceName
  /** Monotonic milliseconds at which the reading was complete. */
  readonly at: number
  readonly fields: Partial<Fields>
  /** Monotonic milliseconds at which a field was read, if not at `at`. */
  readonly readAt?: FieldTimes
  /** The server is starting and not up yet, although it has sent this reading. */
  readonly isStarting?: true
  /** Milliseconds between two reads of a field, if it is not read in every poll. */
  readonly readEvery?: FieldTimes
  /** The connection over which it was read. Tick counters that were read over different ones are not compared. */
  readonly connection?: object
  /** The errors of the parts that could not be read. */
  readonly failures?: readonly SourceError[]
}

/** The communication of a source with the server's main thread, which runs the ticks. Times are monotonic milliseconds. */
export interface MainThreadActivity {
  /** Time of the last reply or event. */
  readonly answeredAt?: number
  /** Duration from the last answered request to its reply. */
  readonly delayMs?: number
  /** Time of the first unanswered request over an accepted connection; absent if there is none. */
  readonly waitingSince?: number
  /** Time of the last unanswered request. */
  readonly lastSentAt?: number
  /** Maximum duration of a request; default: three poll intervals. */
  readonly lateAfterMs?: number
  /** It shows ticks, not replies: a server whose ticks are stopped on purpose seems not to answer. */
  readonly showsTicks?: true
}

/** Milliseconds by field. */
export type FieldTimes = Readonly<Partial<Record<FieldName, number>>>

/** A command that is not sent for a while because the server did not answer it. */
export interface RestingCommand {
  readonly command: string
  /** Monotonic milliseconds until which it is not sent. */
  readonly until: number
}

/**
 * One way to read one server. The watcher decides when a source is polled, cancels its polls and determines which fields are stale.
 * A poll must not leave sockets or timers open, except for a persistent connection.
 */
export interface Source {
  readonly name: SourceName
  /** For messages and API replies: `host:port`, a URL or the name of a folder. Contains no secret and no path. */
  readonly target: string
  /**
   * Reads the server once. Not called before the previous poll has ended, nor after `close`.
   * @param signal aborted with a SourceError at the deadline (`timeout`) or when the source is closed (`aborted`). The poll must then
   * end immediately; at the deadline it may resolve with the fields read so far.
   * @param deadlineAt monotonic milliseconds of the deadline; absent if there is none
   * @throws SourceError the same object as before if no new attempt was made, so that a failure is counted once
   */
  poll(signal: AbortSignalLike, deadlineAt?: number): Promise<Reading>
  /** Override the hints of the descriptor, depending on the settings. */
  readonly hints?: Readonly<Partial<Record<SourceErrorCode, string>>>
  /** Whether it can tell that a proxy answers for the stopped server: its poll then fails with `asleep`. */
  readonly detectsSleep?: boolean
  /** Returns the commands that are not sent for a while because the server did not answer them. */
  resting?(): readonly RestingCommand[]
  /** Only implemented by a source whose requests the server's main thread answers. */
  mainThread?(): MainThreadActivity
  /**
   * Only implemented by a source that completes the settings of the others. Returns the server's own files; undefined if there are
   * none. Rejects if they cannot be read; the next poll of the source reports the error.
   */
  files?(): Promise<ServerFiles | undefined>
  /** Closes persistent connections. May be called more than once. */
  close(): void
}

/** The files of a game server in which a source can discover its settings. */
export interface ServerFiles {
  /** `server.properties`. */
  readonly properties: Properties
  /**
   * Reads a small file inside the server's directory, by its relative or absolute path; undefined if it does not exist or cannot be
   * read. Returns the same Buffer until the file changes.
   */
  read(path: string): Promise<Buffer | undefined>
  /** Returns the port of the management protocol from the log; undefined if it is not found. */
  managementPort(): Promise<number | undefined>
}

/** Runs the reading of one reply or file, and measures for how long it holds the event loop. */
export type Measure = <T>(read: () => T) => T

export const unmeasured: Measure = (read) => read()

/** Dependencies of every source. */
export interface SourceContext {
  readonly clock: Clock
  readonly log: Log
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  /** Passes on a reading that arrived between polls (an event), which is merged and published immediately. */
  readonly push: (reading: Reading) => void
  /** Requests an extra poll of this source at a time in monotonic milliseconds. Absent if not supported. */
  readonly requestPoll?: (source: SourceName, at: number) => void
  /**
   * The backoff of a persistent connection, shared by all sessions with the same target and secret. Absent if new connections may be
   * made at any time.
   */
  readonly connectBackoff?: (source: SourceName, target: string, secret: string) => ConnectBackoff
  /** Every reply and file is read within it. Default: unmeasured. */
  readonly measure?: Measure
  /** Default: the system network, without a name cache. */
  readonly network?: Network
  /** The configured address of the server; absent if it was found in the server's directory. */
  readonly address?: ServerAddress
  /** Names of the settings of the source that were found in the server's directory. */
  readonly discovered?: readonly string[]
  /** Called with the sources that were found in the server's directory and those that were not, and again when they change. */
  readonly onDiscovery?: (text: string) => void
  /** Set for a source that is polled only once, by `/probe`. */
  readonly isProbe?: true
  /** Records the duration of each phase of a poll; only used by `/probe`. */
  readonly phases?: PhaseRecorder
}

/** Limits the connection attempts to one target with one secret. */
export interface ConnectBackoff {
  /**
   * Makes one attempt. Until the target has accepted the secret, attempts are made one at a time.
   * @throws SourceError the error of the attempt; during the pause after a failure, the last error without a new attempt
   */
  attempt<T>(connect: () => Promise<T>, signal: AbortSignalLike): Promise<T>
  /**
   * Records the failure of an established connection.
   * @returns monotonic milliseconds at which the next attempt may be made
   */
  failed(error: SourceError): number
  /** Records that the connection works, which resets the backoff. */
  succeeded(): void
  /** Ends the session. */
  release(): void
}

/** The sources of one server. They are listed again for each poll, because changes in the server's directory may switch them on or off. */
export interface SourceSet {
  /** Reads the server's directory again. Absent if there is none. Never rejects. */
  refresh?(): Promise<void>
  list(): readonly Source[]
  close(): void
}

/** A setting of one source of one server. */
export interface SourceSetting<T> extends Setting<T> {
  /** Its key in the server's entry of the config file: `rcon.address`. */
  readonly file: string
  /** The source is off if this setting is missing. */
  readonly required?: true
  /** The only edition that it applies to; absent if it applies to every edition of the source. */
  readonly edition?: Fields['edition']
  /** Derives the value from the address of the server if other settings of the source are set, but not this one. */
  readonly fallback?: (server: HostPort) => T
}

/**
 * Describes one source. It is exported by the `index.ts` of the source's folder and listed in `sources/index.ts`. Settings, `--help`,
 * config file, precedence, `/api/v1/sources`, hints and docs are generated from that list.
 * @template S its complete settings
 */
export interface SourceDescriptor<N extends string = string, S extends object = object> {
  readonly name: N
  /** As a heading: `Management protocol`. */
  readonly title: string
  /** By name. The first one is the main setting: the address, URL or path of the source. */
  readonly settings: { readonly [K in keyof S]-?: SourceSetting<Exclude<S[K], undefined>> }
  /**
   * Every field that it provides, with its rank among the sources of that field: the lowest wins. Ranks are ten apart, so that a new
   * source fits in between. No two sources have the same rank for one field.
   */
  readonly fields: Readonly<Partial<Record<FieldName, number>>>
  /** The requirement on the game server for a field that not every server provides: `Paper`. */
  readonly requires?: Readonly<Partial<Record<FieldName, string>>>
  /**
   * Hints by error code; `notConfigured` names every required setting, which switch the source on. Settings are written by their environment
   * names, which are replaced by those of the server's configuration.
   */
  readonly hints: Readonly<Partial<Record<SourceErrorCode, string>>> & { readonly notConfigured: string }
  /** Override the hint for `timeout`, by the progress of the source. */
  readonly timeoutHints?: Readonly<Partial<Record<SourceProgress, string>>>
  /** The cost of a poll for the game server. */
  readonly cost: string
  /** Whether it connects to the server, so that a reading shows that the server is up. */
  readonly network: boolean
  /** Whether it reads over UDP only, which the proxy of MC_VIA does not forward. */
  readonly udpOnly?: true
  /** Whether it reports events between polls. */
  readonly pushes: boolean
  readonly editions: readonly Fields['edition'][]
  /** Its main setting locates the server. A server must have this setting of at least one such source. */
  readonly locatesServer?: true
  /** Its `files` complete the settings of the other sources, which may then be partly or not configured. */
  readonly completesOthers?: true
  /**
   * Discovers settings of this source in the server's own files. Configured settings take precedence.
   * @param given the configured settings
   * @param server the address of the server, configured or discovered
   */
  discover?(files: ServerFiles, given: Partial<S>, server: ServerAddress | undefined): Partial<S> | Promise<Partial<S>>
  /** Returns why the files do not complete its settings: the property to change, `enable-rcon is not true`. */
  whyUndiscovered?(properties: Properties): string
  create(settings: S, context: SourceContext): Source
}

/** Returns the settings of any source by name, the main setting first. */
export const settingsOf = ({ settings }: SourceDescriptor) => settings as Readonly<Record<string, SourceSetting<unknown>>>
