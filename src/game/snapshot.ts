import type { SourceErrorCode } from './errors.ts'
import type { FieldName, Fields } from './fields.ts'
import type { SourceName } from './sources/names.ts'
import type { RestingCommand } from './sources/source.ts'

export interface KnownField<T> {
  readonly value: T
  readonly source: SourceName
}

export type KnownFields = { readonly [K in FieldName]?: KnownField<Fields[K]> }

/** The result of the last poll of one source. */
export interface SourceState {
  readonly source: SourceName
  readonly target: string
  /** `pending` until the first poll has ended; `partial` if only some of the fields could be read. */
  readonly state: 'pending' | 'ok' | 'partial' | 'failed'
  /** Duration of the last poll in seconds. */
  readonly duration?: number
  readonly error?: { readonly code: SourceErrorCode; readonly message: string }
  /** The last failure, kept after a recovery; `at` is Unix milliseconds. */
  readonly lastError?: { readonly code: SourceErrorCode; readonly message: string; readonly at: number }
  /** Unix milliseconds of the last successful poll. */
  readonly lastSuccess?: number
  /** Commands that are not sent for a while because the server did not answer them; `until` is Unix milliseconds. */
  readonly resting?: readonly RestingCommand[]
}

/** The state of the server's main thread, which runs the ticks. */
export interface MainThread {
  /** False if it does not respond although the server accepts connections. */
  readonly responsive: boolean
  /**
   * Seconds between the last request and its reply; if there is no reply yet, the time waited so far. Absent if no source makes
   * requests of the main thread.
   */
  readonly delay?: number
}

/** The known state of one server at one moment. Immutable, so that anything derived from it can be cached. */
export interface ServerSnapshot {
  readonly server: string
  /** Set for the built-in demo server. */
  readonly demo?: true
  /** Monotonic milliseconds at which it was created. */
  readonly at: number
  readonly fields: KnownFields
  readonly sources: readonly SourceState[]
  /**
   * Whether the last poll, or an event since then, reached the server over the network. Absent while unknown: before the first poll,
   * if no source connects to the server, and once the last contact is stale. Decided by the watcher, so that all readers agree.
   */
  readonly up?: boolean
  /** Monotonic milliseconds at which `up` becomes unknown unless a newer snapshot follows. */
  readonly knownUntil?: number
  /** The last contact is stale, or there was none. */
  readonly isStale?: true
  /** Monotonic and Unix milliseconds of the last contact (poll or event). */
  readonly lastContact?: { readonly at: number; readonly wall: number }
  /** Absent while the server is down or if no source provides it. */
  readonly mainThread?: MainThread
  /** Unix milliseconds at which the last poll ended, whatever its outcome. */
  readonly lastPollAt?: number
  /** Duration of the last poll of all sources in seconds. */
  readonly pollDuration?: number
  /** Number of polls since the start, by outcome: `ok` or the code of the error. */
  readonly polls: Readonly<Partial<Record<'ok' | SourceErrorCode, number>>>
  /** Counted since the start; absent until a source that provides them was read. */
  readonly joins?: number
  readonly leaves?: number
}

/** Monotonic milliseconds at which the poll began: the values may be that old if the process was suspended during the poll. */
export const beganAt = ({ at, pollDuration = 0 }: Pick<ServerSnapshot, 'at' | 'pollDuration'>): number =>
  at - 1_000 * pollDuration

const noFields: KnownFields = Object.freeze({})

/** The fields that are valid now: none unless the server is up. */
export const currentFields = ({ up, fields }: Pick<ServerSnapshot, 'up' | 'fields'>): KnownFields =>
  up === true ? fields : noFields

/** The tick rate relative to its target; undefined if unknown, or if the server does not tick at its target on purpose. */
export function tickRatioOf(snapshot: Pick<ServerSnapshot, 'up' | 'fields'>): number | undefined {
  const { tickRate, tickRateTarget, tickPaused, tickFrozen, tickSprinting } = currentFields(snapshot)
  if (tickRate === undefined || tickPaused?.value || tickFrozen?.value || tickSprinting?.value) return undefined
  return tickRate.value / (tickRateTarget?.value || 20)
}

/** Why a server that is down could not be reached, as told by the first source that connects to it; undefined if none did. */
export const downError = ({ sources }: Pick<ServerSnapshot, 'sources'>): SourceErrorCode | undefined =>
  sources.find(({ source, error }) => source !== 'directory' && error !== undefined)?.error?.code

/** The world upgrade because of which the server is not up yet; undefined if there is none. */
export function ongoingWorldUpgrade({ up, fields }: Pick<ServerSnapshot, 'up' | 'fields'>): Fields['worldUpgrade'] | undefined {
  const upgrade = fields.worldUpgrade?.value
  return up === true || upgrade?.state === 'finished' ? undefined : upgrade
}

/** True if a proxy answers for the stopped server, false if the server itself answers, undefined if unknown. */
export function isAsleep({ sources, fields }: Pick<ServerSnapshot, 'sources' | 'fields'>): boolean | undefined {
  const status = sources.find(({ source }) => source === 'status')
  if (status?.error?.code === 'asleep') return true
  return status?.state === 'ok' ? fields.asleep?.value : undefined
}
