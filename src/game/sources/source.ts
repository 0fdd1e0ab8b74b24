import type { Clock } from '../../clock.ts'
import type { Setting } from '../../config/setting.ts'
import type { Log } from '../../log.ts'
import type { SourceError, SourceErrorCode, SourceProgress } from '../errors.ts'
import type { FieldName, Fields } from '../fields.ts'
import type { Network } from '../network.ts'
import type { PhaseRecorder } from '../phases.ts'
import type { HostPort, ServerAddress } from '../protocol/address.ts'
import type { Properties } from '../protocol/server-properties.ts'
import type { sources } from './index.ts'

export type SourceName = (typeof sources)[number]['name']

/** What one source read: some of the fields, nothing invented. */
export interface Reading {
  readonly source: SourceName
  /** Monotonic milliseconds at which the reading was complete. */
  readonly at: number
  readonly fields: Partial<Fields>
  /** Monotonic milliseconds at which a field was read, for each field that was not read at `at`. */
  readonly readAt?: FieldTimes
  /** The server is not up yet, although it has sent this: it is starting. */
  readonly isStarting?: true
  /** Milliseconds between two reads of a field, for each field that the source does not read in every poll. */
  readonly readEvery?: FieldTimes
  /** What could not be read, although the rest could. */
  readonly failures?: readonly SourceError[]
}

/** What a source has met with that the main thread of the server sends: the thread that computes the ticks. Monotonic milliseconds. */
export interface MainThreadActivity {
  /** Of the last answer or event. */
  readonly answeredAt?: number
  /** From the last request that was answered to its answer. */
  readonly delayMs?: number
  /** Of the first of the requests that are not answered, over a connection that the server has accepted; absent: there is none. */
  readonly waitingSince?: number
  /** Of the last of the requests that are not answered. */
  readonly lastSentAt?: number
  /** How long a request may be unanswered; default: three poll intervals. */
  readonly lateAfterMs?: number
}

/** Milliseconds by field. */
export type FieldTimes = Readonly<Partial<Record<FieldName, number>>>

/** A command that the server does not answer and that is not sent for a while. */
export interface RestingCommand {
  readonly command: string
  /** Monotonic milliseconds until which it is not sent. */
  readonly until: number
}

/**
 * One way to read one server. A source only reads: the watcher decides when it is polled, cancels its polls, and judges what is
 * stale. A poll leaves no socket or timer behind but for a deliberately kept connection.
 */
export interface Source {
  readonly name: SourceName
  /** Whom it reads, for messages and replies: `host:port`, a URL or the name of a folder. No secret, and no path of this machine. */
  readonly target: string
  /**
   * Reads the server once. Never called again before the poll before has ended, nor after `close`.
   * @param signal aborted with a SourceError: at the deadline (`timeout`), or when the source is closed (`aborted`). The poll then
   * ends at once; at the deadline it may still resolve with the fields that it has read.
   * @param deadlineAt monotonic milliseconds of the deadline; absent: there is none
   * @throws SourceError the same object again as long as no new attempt was made, so that one failure is not counted as many
   */
  poll(signal: AbortSignal, deadlineAt?: number): Promise<Reading>
  /** Used in place of those of its descriptor, where its settings make others right. */
  readonly hints?: Readonly<Partial<Record<SourceErrorCode, string>>>
  /** Commands that are not sent at the moment, because the server did not answer them. */
  resting?(): readonly RestingCommand[]
  /** Only of a source whose requests the main thread of the server answers. */
  mainThread?(): MainThreadActivity
  /**
   * Only of a source that completes the settings of the others: the server's own files; undefined while there are none.
   * Rejects where they cannot be read, which the source's next poll reports.
   */
  files?(): Promise<ServerFiles | undefined>
  /** Closes kept connections. May be called twice. */
  close(): void
}

/** The files of a game server from which a source may complete its settings. */
export interface ServerFiles {
  /** `server.properties`. */
  readonly properties: Properties
  /**
   * A small file inside the server's directory, by its relative path or an absolute one inside; undefined where there is none or it
   * may not be read. The same Buffer as before as long as the file has not changed.
   */
  read(path: string): Promise<Buffer | undefined>
  /** The port of the management protocol that the log names; undefined where it names none or cannot be read. */
  managementPort(): Promise<number | undefined>
}

/** What every source is given. */
export interface SourceContext {
  readonly clock: Clock
  readonly log: Log
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  /** Takes a reading that arrived between polls (an event). It is merged and published at once. */
  readonly push: (reading: Reading) => void
  /** Requests a poll of this source between the regular ones, at a time in monotonic milliseconds. Absent: there are none. */
  readonly requestPoll?: (source: SourceName, at: number) => void
  /**
   * For a source that keeps a connection: when it may make a new one. Shared by all sessions with the same target and secret.
   * Absent: at any time.
   */
  readonly connectBackoff?: (source: SourceName, target: string, secret: string) => ConnectBackoff
  /** What servers are reached through; default: the system's network, without a cache of names. */
  readonly network?: Network
  /** The address of the server where it was configured, not found in the server's directory. */
  readonly address?: ServerAddress
  /** The settings of the source that were found in the server's directory. */
  readonly discovered?: readonly string[]
  /** Records how long each phase of a poll takes; only /probe has it. */
  readonly phases?: PhaseRecorder
}

/** Limits the attempts to connect to one target with one secret. */
export interface ConnectBackoff {
  /**
   * Makes one attempt. While it is unknown whether the target accepts the secret, attempts are made one at a time.
   * @throws SourceError what the attempt throws; without an attempt the last failure, during the pause after it
   */
  attempt<T>(connect: () => Promise<T>, signal: AbortSignal): Promise<T>
  /**
   * The connection has failed after it was made.
   * @returns monotonic milliseconds from which on the next attempt may be made
   */
  failed(error: SourceError): number
  /** The connection works: the next attempt may be made at once. */
  succeeded(): void
  /** The session has ended. */
  release(): void
}

/** The sources of one server. Listed again for each poll, because the server's directory may change which are switched on. */
export interface SourceSet {
  /** Reads the directory again, where there is one. Never rejects. */
  refresh?(): Promise<void>
  list(): readonly Source[]
  close(): void
}

/** A setting of one source of one server. */
export interface SourceSetting<T> extends Setting<T> {
  /** Its key in the server's entry of the config file: `rcon.address`. */
  readonly file: string
  /** The source is off without it. */
  readonly required?: true
  /** The only edition of the game that has it; absent: every edition that the source reads. */
  readonly edition?: Fields['edition']
  /** Its value where it is not set, but other settings of the source are: from the address of the server. */
  readonly fallback?: (server: HostPort) => T
}

/**
 * Everything that the rest of the program needs to know about one source. It is exported by the `index.ts` of the source's folder and
 * listed in `sources/index.ts`; settings, `--help`, config file, precedence, `/api/v1/sources`, hints and docs are made from that list.
 * @template S its settings, complete
 */
export interface SourceDescriptor<N extends string = string, S extends object = object> {
  readonly name: N
  /** As a heading: `Management protocol`. */
  readonly title: string
  /** By the name of each in `S`. The first is the main one: where the source reads. */
  readonly settings: { readonly [K in keyof S]-?: SourceSetting<Exclude<S[K], undefined>> }
  /**
   * Every field that it gives, with its rank among the sources that give the field: the lowest wins. Ranks are ten apart, so that
   * a new source fits in between; no two sources have the same rank for one field.
   */
  readonly fields: Readonly<Partial<Record<FieldName, number>>>
  /** What the game server must be for the source to give a field, where not every one gives it: `Paper`. */
  readonly requires?: Readonly<Partial<Record<FieldName, string>>>
  /**
   * What may help, by the code of a failure; `notConfigured`: what switches it on, on the game server and here. Settings have their
   * environment names, which become those of the server's configuration.
   */
  readonly hints: Readonly<Partial<Record<SourceErrorCode, string>>> & { readonly notConfigured: string }
  /** Used in place of the hint for `timeout` where the source got so far. */
  readonly timeoutHints?: Readonly<Partial<Record<SourceProgress, string>>>
  /** What polling it costs the game server. */
  readonly cost: string
  /** It reaches the server over the network, so that a reading shows the server to be up. */
  readonly network: boolean
  /** It reads over UDP alone, which the proxy of MC_VIA does not pass on. */
  readonly udpOnly?: true
  /** It reports events between polls. */
  readonly pushes: boolean
  readonly editions: readonly Fields['edition'][]
  /** It says where the server is: a server needs the main setting of one such source. */
  readonly locatesServer?: true
  /** Its `files` complete the settings of the other sources, which may then be given in part or not at all. */
  readonly completesOthers?: true
  /**
   * The settings that the server's own files hold for this source, as far as they switch it on. What was configured wins.
   * @param given what was configured
   * @param server the address of the server, as configured or as the files say
   */
  discover?(files: ServerFiles, given: Partial<S>, server: ServerAddress | undefined): Partial<S> | Promise<Partial<S>>
  create(settings: S, context: SourceContext): Source
}

/** The settings of any source, by name, the main one first. */
export const settingsOf = ({ settings }: SourceDescriptor) => settings as Readonly<Record<string, SourceSetting<unknown>>>
