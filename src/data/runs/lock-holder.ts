import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import type { Clock } from '../../clock.ts'
import { readTextIfExists } from '../../files.ts'
import { parseJson } from '../../game/protocol/json.ts'
import { pause } from '../scripts/pause.ts'
import { machine, processExists, startTimeOf } from './process-identity.ts'

/** The process that holds a lock. */
const Holder = Type.Object({
  /** See {@link machine}. */
  machine: Type.String(),
  pid: Type.Integer(),
  /** See {@link startTimeOf}. */
  since: Type.String(),
  /** When it took the lock, ISO 8601 on its own clock. For display only. */
  taken: Type.Optional(Type.String()),
})
export type Holder = Static<typeof Holder>

/** A holder whose process cannot be checked is treated as dead after this time without a heartbeat, milliseconds. */
export const maxSilenceMs = 60_000

const maxLockBytes = 64 * 1024

export const lockPath = (folder: string, name: string): string => join(folder, `.${name}.lock`)

/**
 * The lock files that this process holds. A lock file that names this process but is not among them was left behind by a
 * release that failed.
 */
export const heldLocks = new Set<string>()

/** The last observed state of each lock file, and since when it is unchanged by the clock of this process. */
const observed = new Map<string, { readonly state: string; readonly since: number }>()

/** Milliseconds for which this process has seen the lock file unchanged. */
function silenceOf(path: string, state: string, clock: Pick<Clock, 'now'>): number {
  const before = observed.get(path)
  if (before?.state === state) return clock.now() - before.since
  observed.set(path, { state, since: clock.now() })
  return 0
}

type HolderState = 'alive' | 'dead' | 'unknown'

function stateOf({ machine: where, pid, since }: Holder, path: string): HolderState {
  if (where !== machine) return 'unknown'
  if (pid === process.pid && since === startTimeOf(pid)) return heldLocks.has(path) ? 'alive' : 'dead'
  if (!processExists(pid)) return 'dead'
  const started = startTimeOf(pid)
  // With the mount option hidepid, the start time of another user's process cannot be read.
  if (started === '' || since === '') return 'unknown'
  return started === since ? 'alive' : 'dead'
}

/** The current content and state of a lock file. */
export interface LockFile {
  /** Undefined if this user may not read it. */
  readonly text: string | undefined
  readonly holder: Holder | undefined
  readonly state: HolderState
}

function parseHolder(text: string): Holder | undefined {
  try {
    const value = parseJson(text)
    return Check(Holder, value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Reads the text of a lock file; null if there is none, undefined if it cannot be read. */
export const readLock = (path: string): Promise<string | null | undefined> =>
  readTextIfExists(path, maxLockBytes).then(
    (text) => text ?? null,
    () => undefined,
  )

/** Reads a lock file. @returns undefined if there is none */
export async function inspectLock(path: string, clock: Pick<Clock, 'now'>): Promise<LockFile | undefined> {
  const text = await readLock(path)
  if (text === null) return undefined
  const holder = text === undefined ? undefined : parseHolder(text)
  // Lock files are created atomically: one without a valid holder is not in use.
  if (text !== undefined && holder === undefined) return { text, holder, state: 'dead' }
  const state = holder === undefined ? 'unknown' : stateOf(holder, path)
  if (state !== 'unknown') return { text, holder, state }
  const file = await stat(path, { bigint: true }).catch(() => undefined)
  if (file === undefined) return undefined
  const silence = silenceOf(path, `${file.ino} ${file.mtimeNs}`, clock)
  return { text, holder, state: silence >= maxSilenceMs ? 'dead' : 'unknown' }
}

export interface LockOptions {
  readonly folder: string
  /** Of the script. */
  readonly name: string
  readonly clock: Pick<Clock, 'now' | 'after'>
}

/** The holder of a lock, this process included, unless it is known to be dead; `{}` if its file cannot be read. */
export async function holderOf({ folder, name, clock }: LockOptions): Promise<Partial<Holder> | undefined> {
  const found = await inspectLock(lockPath(folder, name), clock)
  return found === undefined || found.state === 'dead' ? undefined : (found.holder ?? {})
}

/**
 * Waits until it is certain whether a lock is held, at most {@link maxSilenceMs}: for a short-lived process, which has not
 * observed the lock before.
 * @returns true if it is free to be taken
 */
export async function waitForCertainty({ folder, name, clock }: LockOptions, signal: AbortSignal): Promise<boolean> {
  const path = lockPath(folder, name)
  for (let first: string | undefined; ; ) {
    const found = await inspectLock(path, clock)
    if (found === undefined || found.state === 'dead') return true
    const { state } = observed.get(path) ?? {}
    if (found.state === 'alive' || (first !== undefined && state !== first)) return false
    first = state
    await pause(clock, 1000, signal)
  }
}
