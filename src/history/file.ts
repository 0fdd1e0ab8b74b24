import { createHash } from 'node:crypto'
import { open, rename, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { FileSizeError, readFileUpTo } from '../util/files.ts'
import { createPauses } from '../util/pauses.ts'
import { encodeFrame, frameKinds, header, readFrames } from './frames.ts'

/** Appended bytes after which the file is rewritten: some 8 hours. */
const maxAppended = 128 * 1024
/** Far larger than any history file. */
const maxFile = 16 * 1024 * 1024

/** The history of one server on disk. Calls must not overlap. */
export interface HistoryFile {
  readonly path: string
  /** False if there is no file yet, and after a failure: then `rewrite()` must be called first. */
  readonly canAppend: boolean
  /** True if so much has been appended that the file should be rewritten. */
  readonly hasGrown: boolean
  /**
   * Passes every complete frame to `found` and truncates the file after the last one.
   * @returns why the file could not be used, in which case it has been renamed; undefined if it could
   * @throws the system's error
   */
  load(found: (kind: number, payload: Buffer) => void): Promise<string | undefined>
  /** @throws the system's error, or Error if another process has written to the file */
  append(frames: readonly Buffer[]): Promise<void>
  /** @throws the system's error */
  rewrite(image: Buffer): Promise<void>
}

/** A file name that every file system accepts; the hash distinguishes names that differ only in replaced characters. */
function fileName(server: string): string {
  const readable = server
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
  return `${readable}.${createHash('sha256').update(server).digest('hex').slice(0, 12)}.history`
}

export const createHistoryFile = (folder: string, server: string): HistoryFile => new StoredHistoryFile(folder, server)

/** A class for the same reason as rings.ts: an object with a getter takes a kilobyte. */
class StoredHistoryFile implements HistoryFile {
  readonly path: string
  readonly #server: string
  /** Size of the file; undefined if it must be rewritten before anything is appended. */
  #size: number | undefined
  #appended = 0

  constructor(folder: string, server: string) {
    this.path = join(folder, fileName(server))
    this.#server = server
  }

  get canAppend(): boolean {
    return this.#size !== undefined
  }

  get hasGrown(): boolean {
    return this.#appended > maxAppended
  }

  async load(found: (kind: number, payload: Buffer) => void): Promise<string | undefined> {
    let file: Buffer
    try {
      file = await readFileUpTo(this.path, maxFile)
    } catch (error) {
      if (error instanceof FileSizeError) return this.#renameUnreadable(error.reason)
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
    if (!file.subarray(0, header.length).equals(header)) {
      return this.#renameUnreadable('it is not a history file of this version')
    }
    const frames = readFrames(file)
    const [name, image] = [frames.next().value, frames.next().value]
    if (name?.kind !== frameKinds.server || image?.kind !== frameKinds.image) {
      return this.#renameUnreadable('its start is damaged')
    }
    if (name.payload.toString() !== this.#server) return this.#renameUnreadable('it belongs to another server')
    found(image.kind, image.payload)
    let { end } = image
    const pauses = createPauses()
    for (const frame of frames) {
      found(frame.kind, frame.payload)
      end = frame.end
      if (pauses.isDue()) await pauses.take()
    }
    if (end < file.length) await truncate(this.path, end)
    this.#size = end
    this.#appended = end - image.end
    return undefined
  }

  async append(frames: readonly Buffer[]): Promise<void> {
    const expected = this.#size
    if (frames.length === 0 || expected === undefined) return
    const bytes = Buffer.concat(frames)
    // Until the write has succeeded.
    this.#size = undefined
    const handle = await open(this.path, 'a')
    try {
      const { size: found } = await handle.stat()
      if (found !== expected) throw new Error('another process also writes to it')
      await handle.appendFile(bytes)
    } finally {
      await handle.close()
    }
    this.#size = expected + bytes.length
    this.#appended += bytes.length
  }

  async rewrite(image: Buffer): Promise<void> {
    const frames = [encodeFrame(frameKinds.server, Buffer.from(this.#server)), encodeFrame(frameKinds.image, image)]
    const bytes = Buffer.concat([header, ...frames])
    this.#size = undefined
    await writeFileAtomic(this.path, bytes)
    this.#size = bytes.length
    this.#appended = 0
  }

  async #renameUnreadable(reason: string): Promise<string> {
    await rename(this.path, `${this.path}.unreadable`)
    return reason
  }
}
