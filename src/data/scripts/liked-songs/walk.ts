import { UpstreamError } from '../upstream-error.ts'
import type { Song } from './journal.ts'
import { pageSize, type Spotify } from './spotify.ts'

interface WalkOptions {
  readonly likedSongs: Spotify['likedSongs']
  readonly known: ReadonlySet<string>
  /** Read to the end of the list. Otherwise the walk ends at a page whose songs are all in the journal. */
  readonly isWhole: boolean
  /** Called for each page with the number of items not seen before, and how many of them are in the journal. */
  readonly onPage: (items: number, known: number) => void
}

/** After so many times from the start, the list is changing all the time. */
const maxRestarts = 3

/** The error for a page that lacks songs: older songs would be taken for synced. */
function findGap(offset: number, { items, total }: Awaited<ReturnType<Spotify['likedSongs']>>): UpstreamError | undefined {
  const expected = Math.min(pageSize, Math.max(0, total - offset))
  if (items.length >= expected) return undefined
  const message = `Spotify returned ${items.length} of ${expected} songs from position ${offset} of ${total}`
  return new UpstreamError('malformed', `${message}; the next run reads the whole list`)
}

/**
 * Reads the pages, which overlap by one: without the last item of the page before, songs were unliked meanwhile. Those after them
 * have moved up, and the walk starts again, so that none is missed. So it does if a page is repeated.
 */
export async function walkLikedSongs({ likedSongs, known, isWhole, onPage }: WalkOptions) {
  const found = new Map<string, Song>()
  const seen = new Set<string>()
  let last: string | undefined
  const end = (error?: UpstreamError) => ({
    /** Newest first, each once. */
    songs: [...found.values()],
    /** Why the walk did not reach the end. The next run has to read the whole list. */
    ...(error && { error }),
  })
  for (let [offset, restarts] = [0, 0]; ; ) {
    const page = await likedSongs(offset)
    const gap = findGap(offset, page)
    if (gap !== undefined) return end(gap)
    const { items, total } = page
    const unseen = items.filter(({ key }) => !seen.has(key))
    // It ends like the page before: new songs have moved the list down by a page, or Spotify has sent that page again.
    const isRepeated = items.length > 1 && items.at(-1)?.key === last
    if (offset > 0 && (isRepeated || unseen.length === items.length)) {
      if (++restarts > maxRestarts) {
        const message = `the liked songs of Spotify changed ${restarts} times while they were read; the next run reads them again`
        return end(new UpstreamError('malformed', message))
      }
      offset = 0
      last = undefined
      continue
    }
    const songs = items.flatMap(({ song }) => song ?? [])
    for (const { key } of unseen) seen.add(key)
    for (const song of songs) if (!found.has(song.id)) found.set(song.id, song)
    onPage(unseen.length, unseen.filter(({ song }) => song !== undefined && known.has(song.id)).length)
    const isKnown = songs.length > 0 && songs.every(({ id }) => known.has(id))
    const next = offset + items.length
    if (next >= total || (isKnown && !isWhole)) return end()
    offset = next - 1
    last = items.at(-1)?.key
  }
}
