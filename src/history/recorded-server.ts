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
  settled(): ServerHistory
  observe(snapshot: ServerSnapshot): void
  /** Reads what an earlier process has written. Never rejects. */
  load(): Promise<void>
  /** Adds what is new to the file. Never rejects; calls must not overlap. */
  save(): Promise<void>
  /** Writes the file anew where it is missing or has grown. Never rejects; calls must not overlap. */
  tidy(): Promise<void>
  /** All of it up to now, for another process. */
  image(): Buffer
  /** Memory held, in bytes. */
  bytes(): number
}

export interface RecordedServerOptions {
  readonly clock: Clock
  /** Milliseconds after the last contact from which a server that was up counts as unknown. */
  readonly staleAfter: number
  /** Absent: in memory only. */
  readonly file?: HistoryFile
  /** Gives what another process has recorded until now; undefined where it has nothing. */
  readonly loadImage?: () => Promise<Buffer | undefined>
  readonly log: Log
}

const reasonOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? (error as Error).message

/** The history of one server, in memory and, where there is a file, on disk. */
export function createRecordedServer({ clock, staleAfter, log, ...options }: RecordedServerOptions): RecordedServer {
  let { file } = options
  const history = createServerHistory()
  const sessions = createSessions()
  const recorder = createRecorder(history, clock, staleAfter)
  /** Failures are logged when they begin, not every 10 s. */
  let isFailing = false
  /** Up to when the file goes, Unix milliseconds. */
  let lastAt = Number.NEGATIVE_INFINITY

  /** What is new, as frames; from then on it counts as written. */
  function takeFrames(): readonly Buffer[] {
    recorder.settle()
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
      if (isFailing) log.info({ file: path }, 'the history is written again')
      isFailing = false
    } catch (error) {
      const reason = reasonOf(error)
      if (!isFailing) {
        log.warn({ file: path, reason }, `the history cannot be written (${reason}); it is kept in memory until it can`)
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
    settled() {
      recorder.settle()
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
          log.warn({ file: path }, `the history file cannot be used: ${problem}; it is renamed to end in .unreadable`)
        }
      } catch (error) {
        // To write it anew would lose what nobody could read just now.
        file = undefined
        const reason = reasonOf(error)
        log.warn({ file: path, reason }, `the history file cannot be read (${reason}); the history is kept in memory only`)
      }
    },
    async save() {
      if (file === undefined) {
        recorder.settle()
        history.takeSlices()
        sessions.takeChanges()
      } else if (file.canAppend) await attempt(file, () => file?.append(takeFrames()))
    },
    async tidy() {
      if (file !== undefined && (!file.canAppend || file.hasGrown))
        await attempt(file, () => {
          // What was not written yet is in the image.
          takeFrames()
          return file?.rewrite(encodeImage())
        })
    },
    image() {
      recorder.settle()
      return encodeImage()
    },
    bytes: () => history.bytes() + sessions.bytes(),
  }
}
