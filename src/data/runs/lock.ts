import { readFileSync, readlinkSync } from 'node:fs'
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

/** Who holds a lock. */
const Holder = Type.Object({
  /** The machine (or container) that the process id is of. */
  machine: Type.String(),
  pid: Type.Integer(),
  /** When the process started, in the kernel's own count: a process id is given out again, this is not. */
  since: Type.String(),
  /** When it took the lock, ISO 8601. */
  taken: Type.Optional(Type.String()),
})
export type Holder = Static<typeof Holder>

export interface RunLock {
  release(): Promise<void>
}

/** A holder shows that it is there this often, milliseconds. */
const beat = 10_000
/** A holder on another machine is believed dead after it, milliseconds. */
export const longestSilence = 60_000

function readText(read: () => string): string {
  try {
    return read()
  } catch {
    // Not on this kind of system.
    return ''
  }
}

const machine = [
  hostname(),
  readText(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  readText(() => readlinkSync('/proc/self/ns/pid')),
].join(' ')

/** Field 22 of the process's stat line; the name before it may hold spaces and brackets. */
const startOf = (pid: number): string =>
  readText(
    () =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19] ?? '',
  )

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const pathOf = (folder: string, name: string): string => join(folder, `.${name}.lock`)

/** The process that holds it and is alive, this one included. */
export async function holderOf(folder: string, name: string): Promise<Holder | undefined> {
  const path = pathOf(folder, name)
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    const holder: unknown = JSON.parse(text)
    if (!Value.Check(Holder, holder)) return undefined
    const isHere = holder.machine === machine
    const alive = isHere ? isAlive(holder.pid) && startOf(holder.pid) === holder.since : Date.now() - mtimeMs < longestSilence
    return alive ? holder : undefined
  } catch {
    return undefined
  }
}

/** Looking at the lock and taking it are one step: nobody else takes or gives it back in between. */
async function alone<T>(folder: string, name: string, action: () => Promise<T>): Promise<T> {
  const guard = join(folder, `.${name}.guard`)
  // The library keeps what it holds by the first argument: one that two guards share mixes them up.
  const release = await lock(guard, {
    lockfilePath: guard,
    realpath: false,
    // Held for milliseconds; a process killed in these leaves it for five seconds.
    stale: 5000,
    // A machine that slept, or somebody who tidied up: release() tells of it, and a throw from a timer ends the process.
    onCompromised: () => undefined,
    retries: { retries: 60, factor: 1.2, minTimeout: 10, maxTimeout: 250, randomize: true },
  })
  try {
    return await action()
  } finally {
    await release().catch((error: NodeJS.ErrnoException) => {
      // It was taken from us: what was done is done, and there is nothing to give back.
      if (error.code !== 'ERELEASED') throw error
    })
  }
}

/**
 * Takes the lock of a name in a folder, against every process that uses the folder. That of a process that was killed is
 * taken over at once, or from another machine after a minute without a sign of life.
 * @param taken Unix milliseconds that others are told it was taken at
 * @returns undefined where another run holds it
 */
export async function takeLock(folder: string, name: string, taken: number): Promise<RunLock | undefined> {
  const path = pathOf(folder, name)
  const own = JSON.stringify({ machine, pid: process.pid, since: startOf(process.pid), taken: new Date(taken).toISOString() })
  const free = await alone(folder, name, async () => {
    if ((await holderOf(folder, name)) !== undefined) return false
    await writeFile(`${path}.new`, own)
    await rename(`${path}.new`, path)
    return true
  })
  if (!free) return undefined
  const beating = setInterval(() => {
    const now = new Date()
    // The file is gone only where somebody removed it by hand.
    utimes(path, now, now).catch(() => undefined)
  }, beat)
  beating.unref()
  return {
    async release() {
      clearInterval(beating)
      await alone(folder, name, async () => {
        const text = await readFile(path, 'utf8').catch(() => undefined)
        if (text === own) await rm(path, { force: true })
      })
    },
  }
}

/** Runs an action that no other process on the folder may run at the same time, waiting for its turn. */
export const inTurn = alone
