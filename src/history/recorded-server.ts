import type { Clock } from '../clock.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Log } from '../log.ts'
import { createByteReader, createByteWriter } from './bytes.ts'
import type { HistoryFile } from './file.ts'
import { decodeSessionChange, decodeSlice, encodeFrame, encodeSessionChange, encodeSlice, frameKinds } from './frames.ts'
import { levels } from './levels.ts'
import { createRecorder } from './recorder.ts'
import { createServerHistory, type ServerHistory } from './server-history.ts'
import { createSessions, type Sessions } from './sessions.ts'

export interface RecordedServer {
  readonly sessions: Sessions
  /** The history up to now. */
  current(): ServerHistory
  observe(snapshot: ServerSnapshot): void
  /** Loads what an earlier process has written. Never rejects. */
  load(): Promise<void>
  /** Appends new data to the file. Never rejects; calls must not overlap. */
  save(): Promise<void>
  /** Rewrites the file if it is missing or has grown. Never rejects; calls must not overlap. */
  tidy(): Promise<void>
  /** Returns the whole history up to now, for another process. */
  image(): Buffer
  /** Memory used, in bytes. */
  bytes(): number
}

export interface RecordedServerOptions {
  readonly clock: Clock
  /** Milliseconds after the last contact after which the state of a server is unknown. */
  readonly staleAfter: number
  /** Absent: in memory only. */
  readonly file?: HistoryFile
  /** Returns what another process has recorded until now; undefined if it has nothing. */
  readonly loadImage?: () => Promise<Buffer | undefined>
  readonly log: Log
}

const reasonOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? (error as Error).message

/** The history of one server, in memory and, if there is a file, on disk. */
export function createRecordedServer({ clock, staleAfter, log, ...options }: RecordedServerOptions): RecordedServer {
  let { file } = options
  const history = createServerHistory()
  const sessions = createSessions()
  const recorder = createRecorder(history, clock, staleAfter)
  /** A failure is logged once, not every 10 s. */
  let isFailing = false
  /** Time up to which the file is complete, Unix milliseconds. */
  let lastAt = Number.NEGATIVE_INFINITY

  /** Returns new data as frames and marks it as written. */
  function takeFrames(): readonly Buffer[] {
    recorder.flush()
    const slices = history.takeSlices().map((slice) => encodeFrame(frameKinds.slice, encodeSlice(slice)))
    const changes = sessions.takeChanges().map((change) => encodeFrame(frameKinds.session, encodeSessionChange(change)))
    return [...slices, ...changes]
  }

  function encodeImage(): Buffer {
    const writer = createByteWriter()
    history.write(writer)
    sessions.write(writer)
    writer.float64(clock.wall())
    return writer.done()
  }

  async function attempt({ path }: HistoryFile, write: () => Promise<void> | undefined): Promise<void> {
    try {
      await write()
      if (isFailing) log.info({ file: path }, 'the history can be written again')
      isFailing = false
    } catch (error) {
      const reason = reasonOf(error)
      if (!isFailing) {
        log.warn({ file: path, reason }, `cannot write the history (${reason}); it is kept in memory until that succeeds`)
      }
      isFailing = true
    }
  }

  function restore(kind: number, payload: Buffer): void {
    if (kind === frameKinds.slice) {
      const slice = decodeSlice(payload)
      history.restore(slice)
      lastAt = Math.max(lastAt, slice.start + levels[0].step)
    } else if (kind === frameKinds.session) sessions.restore(decodeSessionChange(payload))
    else if (kind === frameKinds.image) {
      const reader = createByteReader(payload)
      history.read(reader)
      sessions.read(reader)
      lastAt = reader.float64()
    }
  }

  return {
    sessions,
    current() {
      recorder.flush()
      return history
    },
    observe(snapshot) {
      recorder.observe(snapshot)
      const list = snapshot.up ? snapshot.fields.players?.value : undefined
      if (list?.complete) sessions.observe(list.players, Math.round(clock.wall()))
    },
    async load() {
      const image = await options.loadImage?.()
      if (image !== undefined) {
        restore(frameKinds.image, image)
        sessions.resume(lastAt)
      }
      if (file === undefined) return
      const { path } = file
      try {
        const problem = await file.load(restore)
        sessions.resume(lastAt)
        if (problem !== undefined) {
          log.warn({ file: path }, `cannot use the history file: ${problem}; it has been renamed to end in .unreadable`)
        }
      } catch (error) {
        // Rewriting it would lose data that may become readable again.
        file = undefined
        const reason = reasonOf(error)
        log.warn({ file: path, reason }, `cannot read the history file (${reason}); the history is kept in memory only`)
      }
    },
    async save() {
      if (file === undefined) {
        recorder.flush()
        history.takeSlices()
        sessions.takeChanges()
      } else if (file.canAppend) await attempt(file, () => file?.append(takeFrames()))
    },
    async tidy() {
      if (file !== undefined && (!file.canAppend || file.hasGrown))
        await attempt(file, () => {
          // The image includes what was not written yet.
          takeFrames()
          return file?.rewrite(encodeImage())
        })
    },
    image() {
      recorder.flush()
      return encodeImage()
    },
    bytes: () => history.bytes() + sessions.bytes(),
  }
}
