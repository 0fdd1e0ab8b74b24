import type { FileHandle } from 'node:fs/promises'
import { unmeasured } from '../source.ts'
import { isStillAt, openInside } from './folder.ts'
import { type LogEvent, parseLogLine } from './log-lines.ts'

const path = 'logs/latest.log'
/** The messages about the start are expected in the first bytes of the log, up to this number. */
const headBytes = 1024 * 1024
/** Maximum bytes per read; the rest is read the next time. */
const maxBytes = 4 * 1024 * 1024
const chunkBytes = 64 * 1024
/** Longer lines are ignored. */
const maxLineLength = 4096

/** Information in the log about the last start of the server. */
export interface LogFacts {
  readonly version?: string
  readonly loader?: string
  readonly loaderVersion?: string | undefined
  /** Seconds. */
  readonly startupDuration?: number
  readonly managementPort?: number
}

/** Events since the service started following the log. */
export interface LogCounts {
  readonly overloadWarnings: number
  readonly overloadSkippedTicks: number
  readonly logJoins: number
  readonly logLeaves: number
}

/** Follows `logs/latest.log` across rotation and copies (the file is replaced) and truncation. `read` must not be called concurrently. */
export function createLogFollower(folder: string, measure = unmeasured) {
  let handle: FileHandle | undefined
  let offset = 0
  let rest = ''
  let facts: LogFacts = {}
  let counts: LogCounts = { overloadWarnings: 0, overloadSkippedTicks: 0, logJoins: 0, logLeaves: 0 }
  let hasTried = false
  let followed = false

  /** @param isCounted false for what happened before the log was followed */
  function take(event: LogEvent, isCounted: boolean): void {
    const { overloadWarnings, overloadSkippedTicks, logJoins, logLeaves } = counts
    if (event.kind === 'version') facts = { ...facts, version: event.version }
    else if (event.kind === 'loader') facts = { ...facts, loader: event.loader, loaderVersion: event.version }
    else if (event.kind === 'started') facts = { ...facts, startupDuration: event.seconds }
    else if (event.kind === 'management') facts = { ...facts, managementPort: event.port }
    else if (!isCounted) return
    else if (event.kind === 'overload')
      counts = { ...counts, overloadWarnings: overloadWarnings + 1, overloadSkippedTicks: overloadSkippedTicks + event.ticks }
    else if (event.kind === 'joined') counts = { ...counts, logJoins: logJoins + 1 }
    else counts = { ...counts, logLeaves: logLeaves + 1 }
  }

  /** Reads from `start` to `end`, takes every event, and returns the new offset. */
  async function scan(from: FileHandle, start: number, end: number, isCounted: boolean): Promise<number> {
    const chunk = Buffer.alloc(chunkBytes)
    let at = start
    while (at < end) {
      const { bytesRead } = await from.read(chunk, 0, Math.min(chunkBytes, end - at), at)
      if (bytesRead === 0) break
      at += bytesRead
      // The parsed names and numbers are ASCII, so it does not matter if another character is split.
      const text = chunk.toString('latin1', 0, bytesRead)
      measure(() => parse(text, isCounted))
    }
    return at
  }

  function parse(text: string, isCounted: boolean): void {
    const lines = (rest + text).split('\n')
    rest = (lines.pop() ?? '').slice(0, maxLineLength)
    for (const line of lines) {
      const event = line.length > maxLineLength ? undefined : parseLogLine(line)
      if (event) take(event, isCounted)
    }
  }

  async function readOn(from: FileHandle): Promise<void> {
    const { size } = await from.stat()
    if (size < offset) restart()
    offset = await scan(from, offset, Math.min(size, offset + maxBytes), true)
  }

  function restart(): void {
    offset = 0
    rest = ''
    facts = {}
  }

  /** Reads the head of a log that existed before the service started: the start is used, later events are not counted. */
  async function begin(from: FileHandle): Promise<void> {
    const { size } = await from.stat()
    const end = await scan(from, 0, Math.min(size, headBytes), false)
    if (end < size) rest = ''
    offset = size
  }

  /** Returns what a file has where bytes were read last; zeros after its end. */
  async function bytesBeforeOffset(from: FileHandle): Promise<Buffer> {
    const bytes = Buffer.alloc(Math.min(offset, chunkBytes))
    await from.read(bytes, 0, bytes.length, offset - bytes.length)
    return bytes
  }

  async function follow(): Promise<void> {
    if (handle !== undefined && (await isStillAt(handle, folder, path))) return readOn(handle)
    const opened = await openInside(folder, path)
    const first = !hasTried
    hasTried = true
    if (opened === undefined) {
      // During a rotation, the rest of the old file is still read.
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
          // Tools that synchronise folders replace a file by a longer copy, which is read on.
          if (!(await bytesBeforeOffset(before)).equals(await bytesBeforeOffset(opened))) restart()
        }
      } finally {
        await before.close()
      }
    }
    await readOn(opened)
  }

  return {
    /** Reads new lines; undefined if there has never been a log. */
    async read(): Promise<{ readonly facts: LogFacts; readonly counts: LogCounts } | undefined> {
      await follow()
      return followed ? { facts, counts } : undefined
    },
    async close(): Promise<void> {
      const open = handle
      handle = undefined
      await open?.close()
    },
  }
}
