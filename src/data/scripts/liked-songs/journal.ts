import { type FileHandle, open } from 'node:fs/promises'
import { readFileIfExists } from '../../../files.ts'

export interface JournalEntry {
  readonly id: string
  /** For the person who reads the file. */
  readonly title: string
  readonly artist: string
  /** Last.fm's error code, of a song that it does not take; absent: loved. */
  readonly error?: number
}

/**
 * The songs dealt with so far, one JSON line each, on the disk before the next one is begun: a run that was killed
 * goes on where it stopped, and repeats at most the song that was under way.
 */
export interface Journal {
  readonly ids: ReadonlySet<string>
  readonly failed: number
  add(entry: JournalEntry): Promise<void>
  close(): Promise<void>
}

const isEntry = (value: unknown): value is JournalEntry =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'

function parseLine(line: string): readonly JournalEntry[] {
  try {
    const value: unknown = JSON.parse(line)
    return isEntry(value) ? [value] : []
  } catch {
    // The last line of a run that was killed while writing it.
    return []
  }
}

/** @param retryFailed songs that Last.fm did not take before count as new */
export async function openJournal(path: string, retryFailed: boolean): Promise<Journal> {
  const text = (await readFileIfExists(path)) ?? ''
  const entries = text.split('\n').flatMap(parseLine)
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const ids = new Set([...byId.values()].filter(({ error }) => error === undefined || !retryFailed).map(({ id }) => id))
  let failed = 0
  let file: FileHandle | undefined
  let torn = text !== '' && !text.endsWith('\n')
  return {
    ids,
    get failed() {
      return failed
    },
    async add(entry) {
      file ??= await open(path, 'a', 0o600)
      await file.appendFile(`${torn ? '\n' : ''}${JSON.stringify(entry)}\n`)
      await file.datasync()
      torn = false
      ids.add(entry.id)
      if (entry.error !== undefined) failed++
    },
    async close() {
      await file?.close()
    },
  }
}
