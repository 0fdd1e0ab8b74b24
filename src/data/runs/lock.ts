import { type FileHandle, link, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../../clock.ts'
import { pause } from '../scripts/pause.ts'
import { DataDirError } from './folder.ts'
import { withGuard } from './guard.ts'
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

export interface RunLock {
  /** Never rejects. */
  release(): Promise<void>
}

/** Interval at which a holder updates the mtime of its lock file, milliseconds. */
const heartbeatMs = 10_000
/** A holder whose process cannot be checked is treated as dead after this time without a heartbeat, milliseconds. */
export const maxSilenceMs = 60_000

const pathOf = (folder: string, name: string): string => join(folder, `.${name}.lock`)

/**
 * The lock files that this process holds. A lock file that names this process but is not among them was left behind by a
 * release that failed.
 */
const held = new Set<string>()

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
  if (pid === process.pid && since === startTimeOf(pid)) return held.has(path) ? 'alive' : 'dead'
  if (!processExists(pid)) return 'dead'
  const started = startTimeOf(pid)
  // With the mount option hidepid, the start time of another user's process cannot be read.
  if (started === '' || since === '') return 'unknown'
  return started === since ? 'alive' : 'dead'
}

/** The current content and state of a lock file. */
interface LockFile {
  /** Undefined if this user may not read it. */
  readonly text: string | undefined
  readonly holder: Holder | undefined
  readonly state: HolderState
}

function parseHolder(text: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(Holder, value) ? value : undefined
  } catch {
    return undefined
  }
}

/** @returns undefined if there is no lock file */
async function inspect(path: string, clock: Pick<Clock, 'now'>): Promise<LockFile | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : undefined))
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
  const found = await inspect(pathOf(folder, name), clock)
  return found === undefined || found.state === 'dead' ? undefined : (found.holder ?? {})
}

/**
 * Waits until it is certain whether a lock is held, at most {@link maxSilenceMs}: for a short-lived process, which has not
 * observed the lock before.
 * @returns true if it is free to be taken
 */
export async function waitForCertainty({ folder, name, clock }: LockOptions, signal: AbortSignal): Promise<boolean> {
  const path = pathOf(folder, name)
  for (let first: string | undefined; ; ) {
    const found = await inspect(path, clock)
    if (found === undefined || found.state === 'dead') return true
    const { state } = observed.get(path) ?? {}
    if (found.state === 'alive' || (first !== undefined && state !== first)) return false
    first = state
    await pause(clock, 1000, signal)
  }
}

/** Creates the lock file atomically; undefined if it exists. */
async function create(path: string, text: string): Promise<FileHandle | undefined> {
  const draft = `${path}.${process.pid}.new`
  await writeFile(draft, text)
  try {
    await link(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return undefined
    // A file system without hard links: the guard keeps other processes out.
    await writeFile(path, text, { flag: 'wx' })
  } finally {
    await rm(draft, { force: true })
  }
  return open(path, 'r+')
}

/** Removes the lock of a dead holder. @returns false if it has a new holder by now; it is then restored */
async function removeDead(path: string, { text }: LockFile): Promise<boolean> {
  const removed = `${path}.${process.pid}.dead`
  await rename(path, removed)
  try {
    const isSame = text === undefined || (await readFile(removed, 'utf8')) === text
    if (!isSame) await link(removed, path)
    return isSame
  } finally {
    await rm(removed, { force: true })
  }
}

/**
 * Takes the lock of a script against all processes that use the folder. The lock of a process of this machine that has ended is
 * taken over immediately. If the process cannot be checked (on another machine, in another container, or of another user with
 * hidepid), its lock is taken over after this process has seen the file unchanged for a minute. File times are only compared
 * with each other, so the clocks of the machines may differ.
 * @returns undefined if another run holds it
 * @throws DataDirError if the lock of a dead holder cannot be removed or none can be created
 */
export async function takeLock({
  folder,
  name,
  clock,
  taken,
}: LockOptions & { readonly taken: string }): Promise<RunLock | undefined> {
  const path = pathOf(folder, name)
  const own: Holder = {
    machine,
    pid: process.pid,
    since: startTimeOf(process.pid),
    taken,
  }
  const text = JSON.stringify(own)
  let file: FileHandle | undefined
  try {
    file = await withGuard(folder, name, async () => {
      const found = await inspect(path, clock)
      // removeDead() checks again: a process that was suspended may wrongly believe that it still holds the guard.
      if (found !== undefined && (found.state !== 'dead' || !(await removeDead(path, found)))) return undefined
      return create(path, text)
    })
  } catch (error) {
    throw new DataDirError(folder, `has a lock file (.${name}.lock) that cannot be written`, error)
  }
  if (file === undefined) return undefined
  held.add(path)
  observed.delete(path)
  const lockFile = file
  const heartbeat = setInterval(() => {
    const now = new Date()
    // By file handle: after a manual removal, the path may be the lock of another process.
    lockFile.utimes(now, now).catch(() => undefined)
  }, heartbeatMs)
  heartbeat.unref()

  const isOwn = async () => (await readFile(path, 'utf8').catch(() => undefined)) === text
  const remove = async () => {
    if (await isOwn()) await rm(path, { force: true })
  }
  return {
    async release() {
      clearInterval(heartbeat)
      // First, so that a file that cannot be removed is treated as left behind.
      held.delete(path)
      await lockFile.close().catch(() => undefined)
      // If the folder was removed, do not wait ten seconds for the guard.
      if (await isOwn()) await withGuard(folder, name, remove).catch(() => remove().catch(() => undefined))
    },
  }
}
