import type { Journal } from './journal.ts'
import type { LikedSong, Spotify } from './spotify.ts'

/**
 * Liked songs that are not in the journal, newest first. Reads pages until all songs of one are in the journal.
 * @param full read every page
 * @param onPage called with the number of items of each page, and how many of them are in the journal
 */
export async function findNew(
  likedSongs: Spotify['likedSongs'],
  journal: Pick<Journal, 'ids'>,
  full: boolean,
  onPage: (items: number, known: number) => void,
): Promise<readonly LikedSong[]> {
  const found = new Map<string, LikedSong>()
  for (let offset = 0; ; ) {
    const { songs, items, total } = await likedSongs(offset)
    const fresh = songs.filter(({ id }) => !journal.ids.has(id))
    for (const song of fresh) if (!found.has(song.id)) found.set(song.id, song)
    onPage(items, songs.length - fresh.length)
    offset += items
    const allKnown = songs.length > 0 && fresh.length === 0
    if (items === 0 || offset >= total || (allKnown && !full)) return [...found.values()]
  }
}
