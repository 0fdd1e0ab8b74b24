import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { pause } from '../pause.ts'
import type { Outcome, RunContext, RunResult, Script } from '../script.ts'
import { createUpstream, type Upstream, UpstreamError, type UpstreamOptions } from '../upstream.ts'
import { clampRetryAt } from '../waits.ts'
import { likedSongs } from './index.ts'
import { type Journal, openJournal } from './journal.ts'
import { callLastfm, isLastfmRateLimited, LastfmError, type LastfmKeys } from './lastfm.ts'
import { createSpotify, type LikedSong, SpotifyAuthorisationError } from './spotify.ts'

/** Attempts for a song while Last.fm has a passing error. */
const attempts = 4

export interface LikedSongsOptions {
  /** Least milliseconds between two requests to Last.fm: it asks for at most 5 a second. */
  readonly gap?: number
  /** Milliseconds of the first pause at a passing error of Last.fm, doubled each time; a rate limit is given five times that. */
  readonly backOff?: number
}

/** Until when an upstream does not want to be asked, as the run before left it. Unix milliseconds. */
async function readRetryAt(path: string): Promise<number> {
  try {
    const { retryAt } = JSON.parse(await readFile(path, 'utf8')) as { retryAt?: unknown }
    const { mtimeMs } = await stat(path)
    return typeof retryAt === 'number' ? clampRetryAt(retryAt, mtimeMs) : 0
  } catch {
    return 0
  }
}

/** Liked songs that are not in the journal, newest first: pages from the newest one on, until one is known whole. */
async function findNew(
  likedSongs: (offset: number) => ReturnType<ReturnType<typeof createSpotify>['likedSongs']>,
  journal: Journal,
  full: boolean,
  seen: (items: number, known: number) => void,
): Promise<readonly LikedSong[]> {
  const found = new Map<string, LikedSong>()
  for (let offset = 0; ; ) {
    const { songs, items, total } = await likedSongs(offset)
    const fresh = songs.filter(({ id }) => !journal.ids.has(id))
    for (const song of fresh) if (!found.has(song.id)) found.set(song.id, song)
    seen(items, songs.length - fresh.length)
    offset += items
    const allKnown = songs.length > 0 && fresh.length === 0
    if (items === 0 || offset >= total || (allKnown && !full)) return [...found.values()]
  }
}

/** Loves every song that is liked on Spotify on Last.fm too, oldest first. Never unloves one. */
export const createLikedSongsScript = ({ gap = 200, backOff = 2000 }: LikedSongsOptions = {}): Script => ({
  ...likedSongs,

  async run({ values, dataDir, signal, log, clock, progress, counts, full, dryRun }: RunContext): Promise<RunResult> {
    const stateFile = join(dataDir, 'likedsongs.state.json')
    const errors: string[] = []
    const result = (outcome: Outcome, retryAt?: number): RunResult => ({
      outcome,
      counts,
      errors,
      ...(retryAt !== undefined && { retryAt }),
    })
    const blocked = await readRetryAt(stateFile)
    if (blocked > clock.wall()) {
      errors.push(`rate limited until ${new Date(blocked).toISOString()}: nothing was asked`)
      return result('rate_limited', blocked)
    }

    const upstreams: Upstream[] = []
    const upstream = (name: string, baseUrl: string, more: Partial<UpstreamOptions> = {}): Upstream => {
      const made = createUpstream({ name, baseUrl, signal, clock, ...more })
      upstreams.push(made)
      return made
    }
    const keys: LastfmKeys = {
      apiKey: values.lastfmApiKey ?? '',
      apiSecret: values.lastfmApiSecret ?? '',
      sessionKey: values.lastfmSessionKey ?? '',
    }
    const spotify = createSpotify(upstream('Spotify', values.spotifyAccountsUrl), upstream('Spotify', values.spotifyApiUrl), {
      clientId: values.spotifyClientId ?? '',
      clientSecret: values.spotifyClientSecret ?? '',
      refreshToken: values.spotifyRefreshToken ?? '',
    })
    const lastfm = upstream('Last.fm', values.lastfmApiUrl, { isRateLimited: isLastfmRateLimited, limitPause: 5 * backOff })
    const journal = await openJournal(join(dataDir, 'likedsongs.jsonl'), full)

    /** @throws LastfmError | UpstreamError when it was not loved for a reason that the next song would meet too */
    async function love({ id, title, artists }: LikedSong): Promise<void> {
      const artist = artists[0] ?? ''
      for (let tried = 1; ; tried++) {
        try {
          await callLastfm(lastfm, 'track.love', { artist, track: title }, keys)
          await journal.add({ id, title, artist })
          counts.added++
          return
        } catch (error) {
          if (!(error instanceof LastfmError)) throw error
          if (error.failure === 'skip') {
            await journal.add({ id, title, artist, error: error.code })
            counts.rejected++
            errors.push(`${artist} - ${title}: ${error.message}`)
            log.warn(`likedsongs: ${errors.at(-1)}`)
            return
          }
          if (error.failure !== 'back_off' || tried >= attempts) throw error
          await pause(clock, backOff * 2 ** (tried - 1), signal)
        }
      }
    }

    try {
      const songs = await findNew(spotify.likedSongs, journal, full, (items, known) => {
        counts.read += items
        counts.unchanged += known
      })
      progress.total(songs.length)
      let next = clock.now()
      for (const song of songs.toReversed()) {
        signal.throwIfAborted()
        if (dryRun) counts.added++
        else {
          if (next > clock.now()) await pause(clock, next - clock.now(), signal)
          next = clock.now() + gap
          await love(song)
        }
        progress.step(`${song.artists[0]} - ${song.title}`)
      }
      return result(counts.rejected > 0 ? 'partly' : 'done')
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof LastfmError || error instanceof UpstreamError || error instanceof SpotifyAuthorisationError))
        throw error
      log.warn(`likedsongs: ${error.message}`)
      errors.unshift(error.message)
      if (error instanceof SpotifyAuthorisationError) return result('reauthorise')
      if (error instanceof LastfmError && error.failure === 'reauthorise') {
        errors[0] = 'Last.fm: the session key is no longer valid; run: tickwarden authorise lastfm'
        return result('reauthorise')
      }
      if (error instanceof UpstreamError && error.retryAt !== undefined) {
        const { retryAt } = error
        errors[0] = `${error.message}; rate limited until ${new Date(retryAt).toISOString()}`
        if (!dryRun) await writeFileAtomic(stateFile, `${JSON.stringify({ retryAt })}\n`)
        return result('rate_limited', retryAt)
      }
      return result(counts.added > 0 && !dryRun ? 'partly' : 'failed')
    } finally {
      for (const made of upstreams) made.close()
      await journal.close()
    }
  },
})
