import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileIfExists } from '../../../files.ts'
import { isRecord } from '../../../game/protocol/is-record.ts'

/** A song that Last.fm did not take. */
export interface FailedSong {
  readonly id: string
  readonly title: string
  readonly artist: string
  /** Why, in words. */
  readonly reason: string
  /** Runs in a row that it failed in. */
  readonly failures: number
  /** When it was last tried. Unix milliseconds. */
  readonly tried: number
}

/**
 * The songs dealt with so far, one JSON line each, on the disk before the next one is begun: a run that was killed
 * goes on where it stopped, and repeats at most the song that was under way.
 */
export interface Journal {
  /** Of all songs that were tried, loved or not. */
  readonly ids: ReadonlySet<string>
  /** Oldest failure first. */
  readonly failed: ReadonlyMap<string, FailedSong>
  addLoved(song: Pick<FailedSong, 'id' | 'title' | 'artist'>): Promise<void>
  addFailed(song: FailedSong): Promise<void>
  close(): Promise<void>
}

export const journalPath = (dataDir: string): string => join(dataDir, 'likedsongs.jsonl')

export const nameOf = ({ artist, title }: Pick<FailedSong, 'artist' | 'title'>): string => `${artist} - ${title}`

/** For a person: which song, why, and when it was last tried. */
export const describeSetAside = (song: FailedSong): string =>
  `set aside, tried again weekly: ${nameOf(song)} (${song.reason}; last tried ${new Date(song.tried).toISOString().slice(0, 10)})`

/** After it a failing song is tried again only weekly. */
const maxFailures = 3
/** Half a day less than a week, because daily runs do not start at the same second. Milliseconds. */
const setAsideInterval = 6.5 * 86_400_000

export const isSetAside = ({ failures }: FailedSong): boolean => failures >= maxFailures

/** Whether a run at that time tries it again. @param wall Unix milliseconds */
export const isDue = (song: FailedSong, wall: number): boolean =>
  !isSetAside(song) || wall < song.tried || wall - song.tried >= setAsideInterval

type Line = { readonly id: string; readonly failed?: FailedSong }

function parseLine(line: string): readonly Line[] {
  try {
    const value: unknown = JSON.parse(line)
    if (!isRecord(value) || typeof value.id !== 'string') return []
    const { id, title, artist, error, reason, failures, tried } = value
    if (error === undefined && reason === undefined) return [{ id }]
    if (typeof title !== 'string' || typeof artist !== 'string') return []
    const failed = {
      ...{ id, title, artist },
      // Earlier versions wrote only the error's number, and tried the song no more.
      reason: typeof reason === 'string' ? reason : `error ${String(error)} of Last.fm`,
      failures: typeof failures === 'number' ? failures : maxFailures,
      tried: typeof tried === 'number' ? tried : 0,
    }
    return [{ id, failed }]
  } catch {
    // The last line of a run that was killed while writing it.
    return []
  }
}

function parse(text: string): { readonly ids: Set<string>; readonly failed: Map<string, FailedSong> } {
  const ids = new Set<string>()
  const failed = new Map<string, FailedSong>()
  for (const { id, failed: song } of text.split('\n').flatMap(parseLine)) {
    ids.add(id)
    failed.delete(id)
    if (song !== undefined) failed.set(id, song)
  }
  return { ids, failed }
}

/** The songs that are tried again only weekly. */
export async function readSetAside(path: string): Promise<readonly FailedSong[]> {
  return [...parse((await readFileIfExists(path)) ?? '').failed.values()].filter(isSetAside)
}

export async function openJournal(path: string): Promise<Journal> {
  const text = (await readFileIfExists(path)) ?? ''
  const { ids, failed } = parse(text)
  let file: FileHandle | undefined
  let torn = text !== '' && !text.endsWith('\n')
  async function add(line: Pick<FailedSong, 'id' | 'title' | 'artist'>): Promise<void> {
    file ??= await open(path, 'a', 0o600)
    await file.appendFile(`${torn ? '\n' : ''}${JSON.stringify(line)}\n`)
    await file.datasync()
    torn = false
    ids.add(line.id)
    failed.delete(line.id)
  }
  return {
    ids,
    failed,
    addLoved: ({ id, title, artist }) => add({ id, title, artist }),
    async addFailed(song) {
      await add(song)
      failed.set(song.id, song)
    },
    async close() {
      await file?.close()
    },
  }
}
