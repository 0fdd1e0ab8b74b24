import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Fields } from '../fields.ts'
import type { Network } from '../network.ts'
import type { PhaseRecorder } from '../phases.ts'
import type { ReplyReader } from './status/reply-reader.ts'

export type SourceName = 'status' | 'rcon' | 'management' | 'query' | 'directory'

/** What one source knew at one moment: a part of the fields, nothing invented. */
export interface Reading {
  readonly source: SourceName
  /** Monotonic milliseconds at which it was complete. */
  readonly at: number
  readonly fields: Partial<Fields>
}

/**
 * One way of asking one server. A poll ends within its deadline, leaves no socket or timer behind beyond a
 * deliberately kept connection, and rejects with a SourceError only.
 */
export interface Source {
  readonly name: SourceName
  /** What is asked, for messages and replies: `host:port`, a URL or the name of a folder. No secret, and no path of this machine. */
  readonly target: string
  /**
   * @param signal aborted at the deadline (its reason is a `timeout` SourceError) or on close (`aborted`). At the deadline
   * a source may still resolve, at once, with the part it has.
   * @throws SourceError the same object again while the source waits before it tries anew: one failure, however often it is told
   */
  poll(signal: AbortSignal): Promise<Reading>
  /** Ends kept connections and timers; a poll under way rejects with `aborted`. May be called twice. */
  close(): void
}

/** What every source is handed. */
export interface SourceContext {
  readonly clock: Clock
  readonly log: Log
  /** 0 <= n < 1, for jitter. */
  readonly random: () => number
  /** A reading that arrived between polls (an event); merged and published at once. */
  readonly push: (reading: Reading) => void
  /** What servers are reached through; default: the system's network, without a cache of names. */
  readonly network?: Network
  /** Records how long each phase of a poll takes; only /probe has it. */
  readonly phases?: PhaseRecorder
  /** By address; lets sources that are made for one poll recognise an unchanged reply. Default: a reader of the source's own. */
  readonly replyReaders?: (server: string) => ReplyReader
}

/** The sources of one server. Asked anew before each poll, because a server's directory may change what is switched on. */
export interface SourceSet {
  /** Looks whether other sources are switched on now; awaited before each poll, at most one poll timeout long. */
  refresh?(): Promise<void>
  list(): readonly Source[]
  close(): void
}
