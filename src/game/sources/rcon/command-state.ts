import { type BackoffOptions, backoffMs } from '../../../util/backoff.ts'
import type { Fields } from '../../fields.ts'
import type { RconCommand } from '../../protocol/rcon/commands.ts'
import type { CommandReader } from './command-readers.ts'

/** Number of consecutive replies that were not understood, after which a command is sent less often. */
const maxMisses = 3
const rareIntervalMs = 60_000
/** Pauses after which a command that the server does not support is sent again: its reply may have been that to another client. */
const unsupportedPauses: BackoffOptions = { firstMs: 60_000, maxMs: 600_000 }

export const noFields: Partial<Fields> = Object.freeze({})

/** The state of one command of a server. */
export interface CommandState {
  readonly reader: CommandReader
  /** Index of the first command that the server may support. */
  choice: number
  /** A reply to the command was understood. */
  learned: boolean
  /** Number of consecutive replies that were not understood. */
  misses: number
  /** The first reply, since one was understood, that was not the error for an unknown command either: for the log, truncated. */
  notUnderstood: { readonly command: RconCommand; readonly text: string } | undefined
  /** How often consecutively the server supported none of the commands. */
  unsupported: number
  /** Monotonic milliseconds of the last plan in which the command was answered. */
  plannedAt: number
  fields: Partial<Fields>
  /** Monotonic milliseconds at which the fields were read. */
  readAt: number
  /** The reply with the fields, if it is often unchanged. */
  text: string | undefined
}

export const createCommandState = (reader: CommandReader): CommandState => ({
  reader,
  choice: 0,
  learned: false,
  misses: 0,
  notUnderstood: undefined,
  unsupported: 0,
  plannedAt: Number.NEGATIVE_INFINITY,
  fields: noFields,
  readAt: 0,
  text: undefined,
})

/**
 * Counts a reply that was not understood. A command that was understood before is kept for some replies, since another RCON client may
 * have mixed its replies into this one; after them another form is tried, since a plugin may have replaced the command.
 */
export function missed(state: CommandState, index: number): void {
  const { length } = state.reader.commands
  state.misses++
  if (state.learned && state.misses < maxMisses) return
  const isLast = index + 1 === length
  if (state.learned && length > 1) {
    state.learned = false
    state.misses = 0
  } else if (isLast) {
    // A reply to another client says nothing about what the server supports.
    if (state.notUnderstood === undefined) state.unsupported++
    state.notUnderstood = undefined
  }
  state.choice = isLast ? 0 : index + 1
}

/** Returns whether the server supports none of the commands, and they must not be sent yet. */
export const isPaused = ({ unsupported, choice, plannedAt }: CommandState, now: number): boolean =>
  unsupported > 0 && choice === 0 && now - plannedAt < backoffMs(unsupported, unsupportedPauses)

/** Returns the minimum milliseconds between two reads of a command. */
export const pauseMs = ({ reader, misses, choice }: CommandState): number =>
  misses >= maxMisses && choice === 0 ? Math.max(rareIntervalMs, reader.intervalMs) : reader.intervalMs

export function overdueMs({ plannedAt, reader }: CommandState, now: number): number {
  return plannedAt === Number.NEGATIVE_INFINITY ? Number.MAX_VALUE : now - plannedAt - reader.intervalMs
}
