import { isTime } from '../game/check.ts'
import { currentFields } from '../game/current-fields.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { createByteReader, createByteWriter } from './bytes.ts'
import type { HistoryFile } from './file.ts'
import { decodeSessionChange, decodeSlice, encodeFrame, encodeSessionChange, encodeSlice, frameKinds } from './frames.ts'
import { levels } from './levels.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { createServerHistory, type ServerHistory } from './server-history.ts'
import { createSessions, type Sessions } from './sessions.ts'

export interface RecordedServer {
  readonly sessions: Sessions
  /** The history up to now. */
  current(): ServerHistory
  observe(snapshot: ServerSnapshot): void
  /** The state is unknown from now until the next snapshot. */
  markUnknown(): void
  /** Loads what an earlier process has written. Never rejects. */
  load(): Promise<void>
  /**
   * Appends new data to the file. Never rejects; calls must not overlap.
   * @returns undefined if nothing is written, because it takes a while to await a promise for each of thousands of servers
   */
  save(): Promise<void> | undefined
  /** Rewrites the file if it is missing or has grown; as `save`. */
  tidy(): Promise<void> | undefined
  /** Memory used, in bytes. */
  bytes(): number
}

export interface RecordedServerOptions {
  readonly clock: Clock
  /** Absent: in memory only. */
  readonly file?: HistoryFile
  readonly log: Log
  /** False: player sessions are neither recorded nor restored. */
  readonly recordsPlayers?: boolean
}

const reasonOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? (error as Error).message

/** The history of one server, in memory and, if there is a file, on disk. */
export const createRecordedServer = (options: RecordedServerOptions): RecordedServer => new FileBackedServer(options)

/** A class for the same reason as rings.ts. */
class FileBackedServer implements RecordedServer {
  readonly sessions: Sessions = createSessions()
  readonly #options: RecordedServerOptions
  readonly #history: ServerHistory
  readonly #recorder: Recorder
  #file: HistoryFile | undefined
  /** A failure is logged once, not every 10 s. */
  #isFailing = false
  /** Time up to which the file is complete, Unix milliseconds. */
  #lastAt = Number.NEGATIVE_INFINITY

  constructor(options: RecordedServerOptions) {
    this.#options = options
    this.#file = options.file
    this.#history = createServerHistory(options.file !== undefined)
    this.#recorder = createRecorder(this.#history, options.clock)
  }

  current(): ServerHistory {
    this.#recorder.flush()
    return this.#history
  }

  observe(snapshot: ServerSnapshot): void {
    this.#recorder.observe(snapshot)
    const list = this.#options.recordsPlayers === false ? undefined : currentFields(snapshot).players?.value
    if (list?.complete) this.sessions.observe(list.players, Math.round(this.#options.clock.wall()))
  }

  markUnknown(): void {
    this.#recorder.markUnknown()
  }

  async load(): Promise<void> {
    const { log } = this.#options
    if (this.#file === undefined) return
    const { path } = this.#file
    try {
      const problem = await this.#file.load((kind, payload) => this.#restore(kind, payload))
      this.sessions.resume(this.#lastAt)
      if (problem !== undefined) {
        log.warn({ file: path }, `cannot use the history file: ${problem}; it has been renamed to end in .unreadable`)
      }
    } catch (error) {
      // Rewriting it would lose data that may become readable again.
      this.#file = undefined
      const reason = reasonOf(error)
      log.warn({ file: path, reason }, `cannot read the history file (${reason}); the history is kept in memory only`)
    }
  }

  save(): Promise<void> | undefined {
    const file = this.#file
    if (file?.canAppend) return this.#attempt(file, () => file.append(this.#takeFrames()))
    // Drops what would be appended, to save memory: tidy() writes the whole history to a missing file, but maybe much later.
    this.#history.takeSlices()
    this.sessions.takeChanges()
    return undefined
  }

  tidy(): Promise<void> | undefined {
    const file = this.#file
    if (file === undefined || (file.canAppend && !file.hasGrown)) return undefined
    return this.#attempt(file, () => {
      // The image includes what was not written yet.
      this.#takeFrames()
      return file.rewrite(this.#encodeImage())
    })
  }

  bytes(): number {
    return this.#history.bytes() + this.sessions.bytes()
  }

  /** Returns new data as frames and marks it as written. */
  #takeFrames(): readonly Buffer[] {
    this.#recorder.flush()
    const slices = this.#history.takeSlices().map((slice) => encodeFrame(frameKinds.slice, encodeSlice(slice)))
    const changes = this.sessions.takeChanges().map((change) => encodeFrame(frameKinds.session, encodeSessionChange(change)))
    return [...slices, ...changes]
  }

  #encodeImage(): Buffer {
    const writer = createByteWriter()
    this.#history.write(writer)
    this.sessions.write(writer)
    writer.float64(this.#options.clock.wall())
    return writer.done()
  }

  async #attempt({ path }: HistoryFile, write: () => Promise<void> | undefined): Promise<void> {
    const { log } = this.#options
    try {
      await write()
      if (this.#isFailing) log.info({ file: path }, 'the history can be written again')
      this.#isFailing = false
    } catch (error) {
      const reason = reasonOf(error)
      if (!this.#isFailing) {
        log.warn({ file: path, reason }, `cannot write the history (${reason}); it is kept in memory until that succeeds`)
      }
      this.#isFailing = true
    }
  }

  #restore(kind: number, payload: Buffer): void {
    const sessions = this.#options.recordsPlayers === false ? createSessions() : this.sessions
    if (kind === frameKinds.slice) {
      const slice = decodeSlice(payload)
      this.#history.restore(slice)
      this.#lastAt = Math.max(this.#lastAt, slice.start + levels[0].step)
    } else if (kind === frameKinds.session) sessions.restore(decodeSessionChange(payload))
    else if (kind === frameKinds.image) {
      const reader = createByteReader(payload)
      this.#history.read(reader)
      sessions.read(reader)
      const at = reader.float64()
      if (isTime(at)) this.#lastAt = at
    }
  }
}
