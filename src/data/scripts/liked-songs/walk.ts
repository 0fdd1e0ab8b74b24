import { UpstreamError } from '../upstream-error.ts'
import { type LikedPage, type LikedSong, pageSize, type Spotify } from './spotify.ts'

/** The liked songs that a walk through the pages has found. */
interface Walk {
  /** Songs that are not in the journal (with `full`, all), newest first. */
  readonly songs: readonly LikedSong[]
  /** Where the next run continues, because this walk did not reach the end. */
  readonly incompleteAt?: number
  /** Why it did not. */
  readonly error?: UpstreamError
}

interface WalkOptions {
  readonly likedSongs: Spotify['likedSongs']
  /** Ids of the songs of the journal. */
  readonly known: ReadonlySet<string>
  readonly full: boolean
  /** Where an incomplete walk is continued, after the new songs. */
  readonly resumeAt: number | undefined
  /** Called for each page with the number of items not seen before, and how many of them are in the journal. */
  readonly onPage: (items: number, known: number) => void
}

/** How far the walk goes back first if songs were unliked since the page before. */
const stepBack = 10

/** The error for a page that lacks songs: older songs would be taken for synced. */
function findGap(offset: number, { items, total }: LikedPage): UpstreamError | undefined {
  const expected = Math.min(pageSize, Math.max(0, total - offset))
  if (items >= expected) return undefined
  const message = `Spotify returned ${items} of ${expected} songs from position ${offset} of ${total}`
  return new UpstreamError('malformed', `${message}; the next run continues there`)
}

/**
 * Reads pages until all songs of one are in the journal, or to the end. Pages overlap by one, so that a song that is unliked
 * during the walk, which moves the others up, does not hide another.
 */
export async function walkLikedSongs({ likedSongs, known, full, resumeAt, onPage }: WalkOptions): Promise<Walk> {
  const found = new Map<string, LikedSong>()
  /** Keys of all items so far. */
  const seen = new Set<string>()
  const songs = () => [...found.values()]
  let [rest, step] = [resumeAt, stepBack]
  /** Whether the walk continues where the one before ended, so that the page before is one of that walk. */
  let isResumed = false
  for (let offset = 0; ; ) {
    const page = await likedSongs(offset)
    const gap = findGap(offset, page)
    // The songs from here to where the walk before ended are not read either, unless nothing was found that the next run would stop at.
    if (gap !== undefined) return { songs: songs(), incompleteAt: found.size === 0 ? (rest ?? offset) : offset, error: gap }
    const isConnected =
      offset === 0 || page.keys.some((key) => seen.has(key)) || (isResumed && known.has(page.songs[0]?.id ?? ''))
    if (!isConnected) {
      offset = Math.max(0, Math.min(offset, page.total) - step)
      // Thousands may have been unliked since the walk before.
      step *= 2
      continue
    }
    step = stepBack
    isResumed = false
    const unseen = page.keys.filter((key) => !seen.has(key))
    for (const key of unseen) seen.add(key)
    const fresh = page.songs.filter(({ id }) => full || !known.has(id))
    for (const song of fresh) if (!found.has(song.id)) found.set(song.id, song)
    onPage(unseen.length, page.songs.filter(({ id, key }) => known.has(id) && unseen.includes(key)).length)
    const end = offset + page.items
    if (end >= page.total) return { songs: songs() }
    offset = end - 1
    const isKnown = page.songs.length > 0 && page.songs.every(({ id }) => known.has(id))
    if (!isKnown || full) continue
    if (rest === undefined) return { songs: songs() }
    // What follows was read by the walk before, up to where it ended.
    if (rest > offset) {
      offset = Math.max(0, Math.min(rest, page.total) - stepBack)
      isResumed = true
    }
    rest = undefined
    // From here on, known songs do not end the walk.
    full = true
  }
}
