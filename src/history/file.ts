import { createHash } from 'node:crypto'
import { open, readFile, rename, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { encodeFrame, type FrameKind, frameKinds, header, readFrames } from './frames.ts'

/** Bytes added after which a file is written anew: some 8 hours. */
const maxAppended = 128 * 1024
/** No history file is anywhere near. */
const maxFile = 16 * 1024 * 1024

/** The history of one server on disk. Its calls must not overlap. */
export interface HistoryFile {
  readonly path: string
  /** False where there is no file yet, and after a failure: it must be written anew first. */
  readonly canAppend: boolean
  /** So much has been added that it should be written anew. */
  readonly hasGrown: boolean
  /**
   * Hands over every whole frame and cuts off what follows them.
   * @returns what was wrong with a file that could not be read; it is set aside then
   * @throws the system's error
   */
  load(found: (kind: number, payload: Buffer) => void): Promise<string | undefined>
  /** @throws the system's error, and Error where another process has written to the file */
  append(frames: readonly Buffer[]): Promise<void>
  /** @throws the system's error */
  rewrite(image: Buffer): Promise<void>
}

/** A name that no file system minds, and that differs for names that differ only in what was replaced. */
function fileName(server: string): string {
  const readable = server
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
  return `${readable}.${createHash('sha256').update(server).digest('hex').slice(0, 12)}.history`
}

export function createHistoryFile(folder: string, server: string): HistoryFile {
  const path = join(folder, fileName(server))
  /** Bytes that the file has; undefined where it must be written anew before anything is added. */
  let size: number | undefined
  let appended = 0

  async function setAside(reason: string): Promise<string> {
    await rename(path, `${path}.unreadable`)
    return reason
  }

  return {
    path,
    get canAppend() {
      return size !== undefined
    },
    get hasGrown() {
      return appended > maxAppended
    },
    async load(found) {
      let file: Buffer
      try {
        file = await readFile(path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      if (file.length > maxFile) return setAside(`it has ${file.length} bytes`)
      if (!file.subarray(0, header.length).equals(header)) return setAside('it is not a history file of this version')
      let imageEnd = 0
      const frames: [number, Buffer][] = []
      const end = readFrames(file, (kind, payload) => {
        frames.push([kind, payload])
        if (kind === frameKinds.image) imageEnd = payload.byteOffset - file.byteOffset + payload.length
      })
      if (frames[0]?.[0] !== frameKinds.server || frames[1]?.[0] !== frameKinds.image) return setAside('its start is damaged')
      if (frames[0][1].toString() !== server) return setAside('it is of another server')
      for (const [kind, payload] of frames) found(kind, payload)
      if (end < file.length) await truncate(path, end)
      size = end
      appended = end - imageEnd
      return undefined
    },
    async append(frames) {
      if (frames.length === 0 || size === undefined) return
      const bytes = Buffer.concat(frames)
      const expected = size
      // Until it is known to be written.
      size = undefined
      const handle = await open(path, 'a')
      try {
        const { size: found } = await handle.stat()
        if (found !== expected) throw new Error('another process writes to it too')
        await handle.appendFile(bytes)
      } finally {
        await handle.close()
      }
      size = expected + bytes.length
      appended += bytes.length
    },
    async rewrite(image) {
      const frame = (kind: FrameKind, payload: Buffer) => encodeFrame(kind, payload)
      const bytes = Buffer.concat([header, frame(frameKinds.server, Buffer.from(server)), frame(frameKinds.image, image)])
      size = undefined
      await writeFileAtomic(path, bytes)
      size = bytes.length
      appended = 0
    },
  }
}
