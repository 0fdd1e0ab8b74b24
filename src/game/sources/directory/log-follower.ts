import type { FileHandle } from 'node:fs/promises'
import { type LogEvent, parseLogLine } from '../../protocol/log-lines.ts'
import { isStillAt, openInside } from './folder.ts'

const path = 'logs/latest.log'
/** What a start writes is looked for in so many bytes at the head of the log. */
const headBytes = 1024 * 1024
/** Bytes read at most in one go; the rest is read in the next. */
const mostBytes = 4 * 1024 * 1024
const chunkBytes = 64 * 1024
/** No line that is looked for is longer. */
const longestLine = 4096

/** What the log tells of the server's last start. */
export interface LogFacts {
  readonly version?: string
  readonly loader?: string
  readonly loaderVersion?: string
  /** Seconds. */
  readonly startupDuration?: number
  readonly managementPort?: number
}

/** What was written since the log was followed first. */
export interface LogCounts {
  readonly overloadWarnings: number
  readonly overloadSkippedTicks: number
  readonly logJoins: number
  readonly logLeaves: number
}

export interface LogFollower {
  /** Reads what is new; undefined where there has never been a log. */
  read(): Promise<{ readonly facts: LogFacts; readonly counts: LogCounts } | undefined>
  close(): Promise<void>
}

/** Follows `logs/latest.log` across rotation (another file takes its name) and truncation. It must not be read twice at once. */
export function createLogFollower(folder: string): LogFollower {
  let handle: FileHandle | undefined
  let offset = 0
  let rest = ''
  let facts: LogFacts = {}
  let counts: LogCounts = { overloadWarnings: 0, overloadSkippedTicks: 0, logJoins: 0, logLeaves: 0 }
  let looked = false
  let followed = false

  function take(event: LogEvent): void {
    if (event.kind === 'version') facts = { ...facts, version: event.version }
    else if (event.kind === 'loader') facts = { ...facts, loader: event.loader, loaderVersion: event.version }
    else if (event.kind === 'started') facts = { ...facts, startupDuration: event.seconds }
    else if (event.kind === 'management') facts = { ...facts, managementPort: event.port }
  }

  function count(event: LogEvent): void {
    const { overloadWarnings, overloadSkippedTicks, logJoins, logLeaves } = counts
    if (event.kind === 'overload')
      counts = { ...counts, overloadWarnings: overloadWarnings + 1, overloadSkippedTicks: overloadSkippedTicks + event.ticks }
    else if (event.kind === 'joined') counts = { ...counts, logJoins: logJoins + 1 }
    else if (event.kind === 'left') counts = { ...counts, logLeaves: logLeaves + 1 }
  }

  /** Reads on to `end`, and hands every event to the listener; returns where it stopped. */
  async function scan(from: FileHandle, start: number, end: number, listen: (event: LogEvent) => void): Promise<number> {
    const chunk = Buffer.alloc(chunkBytes)
    let at = start
    while (at < end) {
      const { bytesRead } = await from.read(chunk, 0, Math.min(chunkBytes, end - at), at)
      if (bytesRead === 0) break
      at += bytesRead
      // Names and numbers that are looked for are ASCII, so that a character cut in two does no harm.
      const lines = (rest + chunk.toString('latin1', 0, bytesRead)).split('\n')
      rest = (lines.pop() ?? '').slice(0, longestLine)
      for (const line of lines) {
        const event = line.length > longestLine ? undefined : parseLogLine(line)
        if (event) listen(event)
      }
    }
    return at
  }

  const both = (event: LogEvent) => {
    take(event)
    count(event)
  }

  async function readOn(from: FileHandle): Promise<void> {
    const { size } = await from.stat()
    if (size < offset) restart()
    offset = await scan(from, offset, Math.min(size, offset + mostBytes), both)
  }

  function restart(): void {
    offset = 0
    rest = ''
    facts = {}
  }

  /** A log that was there before us: what its head tells of the start counts, what has happened since then does not. */
  async function begin(from: FileHandle): Promise<void> {
    const { size } = await from.stat()
    const end = await scan(from, 0, Math.min(size, headBytes), take)
    if (end < size) rest = ''
    offset = size
  }

  async function follow(): Promise<void> {
    if (handle !== undefined && (await isStillAt(handle, folder, path))) return readOn(handle)
    const opened = await openInside(folder, path)
    const first = !looked
    looked = true
    if (opened === undefined) {
      // Between two files, in the midst of a rotation: what is left of the old one is still read.
      if (handle) await readOn(handle)
      return
    }
    followed = true
    const before = handle
    handle = opened
    if (before === undefined) {
      if (first) return begin(opened)
      restart()
    } else {
      try {
        const [old, now] = await Promise.all([before.stat(), opened.stat()])
        if (old.ino !== now.ino || old.dev !== now.dev) {
          await readOn(before)
          restart()
        }
      } finally {
        await before.close()
      }
    }
    await readOn(opened)
  }

  return {
    async read() {
      await follow()
      return followed ? { facts, counts } : undefined
    },
    async close() {
      const open = handle
      handle = undefined
      await open?.close()
    },
  }
}
