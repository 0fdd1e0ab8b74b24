import { appendFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileVersion, readTextIfExists } from '../../../util/files.ts'
import { isRecord } from '../../../util/is-record.ts'
import { parseJsonIfValid } from '../../../util/json.ts'
import { check, type Static, Type } from '../../../util/schema.ts'
import { weeklyMs } from '../waits.ts'

/** Some 100 bytes for each song. */
const maxBytes = 64 * 1024 * 1024

const FailedSong = Type.Object({
  id: Type.String(),
  title: Type.String(),
  artist: Type.String(),
  reason: Type.String(),
  /** Number of consecutive runs in which it failed. */
  failures: Type.Number(),
  /** When it was last tried. Unix milliseconds, at most those of the last date that JavaScript can format. */
  tried: Type.Number({ minimum: 0, maximum: 8.64e15 }),
})
export type FailedSong = Readonly<Static<typeof FailedSong>>
export type Song = Pick<FailedSong, 'id' | 'title' | 'artist'>

/** What a run leaves for the next one. */
const SyncState = Type.Object({
  /** End of a rate limit, Unix milliseconds; 0 if there is none. */
  retryAt: Type.Number(),
  /** Songs older than those of the journal may be missing: the next run reads the whole list. */
  isIncomplete: Type.Boolean(),
})
type SyncState = Readonly<Static<typeof SyncState>>

export const journalPath = (dataDir: string): string => join(dataDir, 'likedsongs.jsonl')

export const nameOf = ({ artist, title }: Song): string => `${artist} - ${title}`

export const describeSetAside = (song: FailedSong): string =>
  `set aside, tried again weekly: ${nameOf(song)} (${song.reason}; last tried ${new Date(song.tried).toISOString().slice(0, 10)})`

/** After this many failures, a song is tried again only weekly. */
const maxFailures = 3

export const isSetAside = ({ failures }: FailedSong): boolean => failures >= maxFailures

/** Whether a run should try the song again now. @param wall Unix milliseconds */
export const isDue = (song: FailedSong, wall: number): boolean =>
  !isSetAside(song) || wall < song.tried || wall - song.tried >= weeklyMs

function parse(text: string) {
  const ids = new Set<string>()
  const failed = new Map<string, FailedSong>()
  let state: SyncState = { retryAt: 0, isIncomplete: false }
  for (const line of text.split('\n')) {
    const value = parseJsonIfValid(line)
    // Such as the last line of a run that was killed while writing it.
    if (!isRecord(value)) continue
    if (check(SyncState, value.state)) state = value.state
    if (typeof value.id !== 'string') continue
    const { id, error, reason } = value
    const song = error === undefined && reason === undefined ? undefined : value
    // Of a song with an error and no reason, which no release has recorded, nothing is known.
    if (song !== undefined && !check(FailedSong, song)) continue
    ids.add(id)
    failed.delete(id)
    if (song !== undefined) failed.set(id, song)
  }
  return { ids, failed, state }
}

let setAside: { readonly version: string | undefined; readonly songs: readonly FailedSong[] } = { version: undefined, songs: [] }

/** The songs that are tried again only weekly. The journal is read again only if it has changed, because each scrape asks for them. */
export async function readSetAside(path: string): Promise<readonly FailedSong[]> {
  const version = await stat(path, { bigint: true }).then(fileVersion, () => undefined)
  if (version === undefined || version !== setAside.version) {
    const { failed } = parse((await readTextIfExists(path, maxBytes)) ?? '')
    setAside = { version, songs: [...failed.values()].filter(isSetAside) }
  }
  return setAside.songs
}

/** The account that the songs of a journal were loved for; undefined in one of an earlier version. */
const accountOf = (text: string): string | undefined => /^\{"account":"([\w-]+)"\}$/m.exec(text)?.[1]

/**
 * Opens the journal of an account: the songs processed so far, one JSON line each, flushed to the disk before the next song. After
 * a kill, the next run continues where the last one stopped and repeats at most one song. That of another account is kept under its
 * name when the first line is added to a new one.
 * @param account letters, digits, - and _
 */
export async function openJournal(path: string, account: string) {
  const text = (await readTextIfExists(path, maxBytes)) ?? ''
  const before = accountOf(text)
  const isOther = before !== undefined && before !== account
  const { ids, failed, state } = parse(isOther ? '' : text)
  let start = before === account ? '' : `${JSON.stringify({ account })}\n`
  if (text !== '' && !text.endsWith('\n') && !isOther) start = `\n${start}`
  async function add(line: object): Promise<void> {
    if (isOther && start !== '') await rename(path, path.replace(/\.jsonl$/, `.${before}.jsonl`))
    await appendFile(path, `${start}${JSON.stringify(line)}\n`, { mode: 0o600, flush: true })
    start = ''
  }
  async function addSong(song: Song): Promise<void> {
    await add(song)
    ids.add(song.id)
    failed.delete(song.id)
  }
  return {
    state,
    /** Ids of all songs that were tried, loved or not. */
    ids: ids as ReadonlySet<string>,
    /** Oldest failure first. */
    failed: failed as ReadonlyMap<string, FailedSong>,
    setState: (next: SyncState) => add({ state: next }),
    addLoved: ({ id, title, artist }: Song) => addSong({ id, title, artist }),
    /** Without members that only a line of the journal has, such as a state, which would be stored again. */
    async addFailed({ id, title, artist, reason, failures, tried }: FailedSong) {
      const song = { id, title, artist, reason, failures, tried }
      await addSong(song)
      failed.set(id, song)
    },
  }
}
