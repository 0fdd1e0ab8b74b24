import { createHash } from 'node:crypto'
import type { Outcome, RunContext, RunResult } from '../script.ts'
import { createUpstream, type UpstreamOptions } from '../upstream.ts'
import { UpstreamError } from '../upstream-error.ts'
import { maxWaitMs, pause } from '../waits.ts'
import { readAuthorisation, storeNewToken } from './authorisation.ts'
import { describeSetAside, type FailedSong, isDue, isSetAside, journalPath, nameOf, openJournal, type Song } from './journal.ts'
import { callLastfm, classifyLastfm, isConfirmation, LastfmError, readLovedSongs, songKey } from './lastfm.ts'
import { createSpotify, type LikedSong, SpotifyAuthorisationError } from './spotify.ts'
import { walkLikedSongs } from './walk.ts'

/** After this many consecutive rejections of new songs, the run ends: the cause is the service, not the songs. */
const maxConsecutiveFailures = 5

interface LikedSongsOptions {
  /** Minimum milliseconds between two requests to Last.fm, which allows 5 per second. */
  readonly gap?: number
  /** Milliseconds before the first retry after a transient error of Last.fm, doubled each time; five times that for a rate limit. */
  readonly backOff?: number
}

const toSong = ({ id, title, artists }: LikedSong): Song => ({ id, title, artist: artists[0] ?? '' })

/** Loves on Last.fm every song that is liked on Spotify, oldest first. Never unloves one. */
export async function runLikedSongs(
  { values, dataDir, signal, log, clock, progress, counts, full, dryRun, confirm }: RunContext,
  { gap = 200, backOff = 2000 }: LikedSongsOptions = {},
): Promise<RunResult> {
  const errors: string[] = []
  const result = (outcome: Outcome, retryAt?: number): RunResult => ({
    outcome,
    counts,
    errors,
    ...(retryAt !== undefined && { retryAt }),
  })
  const { lastfmApiKey: apiKey = '', lastfmApiSecret: apiSecret = '', lastfmSessionKey: sessionKey = '' } = values
  const keys = { apiKey, apiSecret, sessionKey }
  const account = createHash('sha256').update(sessionKey).digest('base64url').slice(0, 16)
  const journal = await openJournal(journalPath(dataDir), account)
  const { retryAt: blocked, isIncomplete: wasIncomplete } = journal.state
  // A later time than any upstream may set is not valid: the clock was wrong.
  if (blocked > clock.wall() && blocked <= clock.wall() + maxWaitMs) {
    errors.push(`rate limited until ${new Date(blocked).toISOString()}: no request was sent`)
    return result('rate_limited', blocked)
  }
  /** Whether the next run has to read the whole list if this one ends now. */
  let isIncomplete = wasIncomplete

  const upstream = (name: string, baseUrl: string, more: Partial<UpstreamOptions> = {}) =>
    createUpstream({ name, baseUrl, signal, clock, log, onWait: progress.wait, ...more })
  const {
    spotifyClientId: clientId = '',
    spotifyClientSecret: clientSecret = '',
    spotifyRefreshToken: configuredToken = '',
  } = values
  const spotify = createSpotify(upstream('Spotify', values.spotifyAccountsUrl), upstream('Spotify', values.spotifyApiUrl), {
    ...{ clientId, clientSecret },
    refreshToken: (await readAuthorisation(dataDir, configuredToken)).refreshToken,
    // In a dry run too: the previous token may no longer be valid.
    onNewRefreshToken: (token) =>
      storeNewToken(dataDir, configuredToken, token).catch((error: unknown) =>
        log.error({ err: error }, 'likedsongs: the new Spotify refresh token could not be stored'),
      ),
  })
  const lastfm = upstream('Last.fm', values.lastfmApiUrl, {
    ...{ classify: classifyLastfm, limitPause: 5 * backOff, retryPauseMs: backOff },
  })

  /**
   * @returns why Last.fm rejected this song; undefined on success
   * @throws LastfmError | UpstreamError if the next song would fail too
   */
  async function love({ artist, title }: Song): Promise<Error | undefined> {
    try {
      const reply = await callLastfm(lastfm, 'track.love', { artist, track: title }, keys)
      if (!isConfirmation(reply))
        throw new UpstreamError('malformed', 'Last.fm: track.love: the reply does not confirm that the song is loved')
      return undefined
    } catch (error) {
      // A 500 concerns this song only; an outage is 502 or 503.
      if (error instanceof UpstreamError && error.status === 500)
        return new Error('Last.fm: track.love: HTTP 500', { cause: error })
      if (error instanceof LastfmError && error.failure === 'song') return error
      throw error
    }
  }

  let isPartly = false
  let consecutiveFailures = 0
  /** Loves a song and records the result. @throws as love() */
  async function sync(song: Song, before: FailedSong | undefined): Promise<void> {
    const rejection = await love(song)
    if (rejection === undefined) {
      consecutiveFailures = 0
      await journal.addLoved(song)
      counts.added++
      return
    }
    const { message: reason } = rejection
    const failed = { ...song, reason, failures: (before?.failures ?? 0) + 1, tried: clock.wall() }
    await journal.addFailed(failed)
    counts.rejected++
    if (before !== undefined && isSetAside(before)) return
    isPartly = true
    errors.push(`${nameOf(song)}: ${reason}`)
    log.warn({ err: rejection }, `likedsongs: ${nameOf(song)} was rejected`)
    if (before === undefined && ++consecutiveFailures >= maxConsecutiveFailures) {
      const reason = `Last.fm rejected ${consecutiveFailures} songs in a row; the next run continues with the others`
      throw new UpstreamError('status', reason)
    }
  }

  /** What Last.fm has; undefined if it cannot be read: then the journal has to do. */
  async function readLoved(): Promise<ReadonlySet<string> | undefined> {
    try {
      return await readLovedSongs(lastfm, keys)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof LastfmError) && !(error instanceof UpstreamError)) throw error
      errors.push(`the loved songs could not be read: ${error.message}; only songs that were never synced are loved`)
      log.warn({ err: error }, 'likedsongs: the loved songs could not be read')
      return undefined
    }
  }

  try {
    const retries = [...journal.failed.values()].filter((song) => full || isDue(song, clock.wall()))
    const loved = full ? await readLoved() : undefined
    const walk = await walkLikedSongs({
      ...{ likedSongs: spotify.likedSongs, known: journal.ids, isWhole: full || wasIncomplete },
      onPage(items, known) {
        counts.read += items
        if (loved === undefined) counts.unchanged += known
      },
    })
    const missing = (song: LikedSong) =>
      loved === undefined ? !journal.ids.has(song.id) : !loved.has(songKey(song.artists[0] ?? '', song.title))
    const songs = walk.songs.filter((song) => missing(song) && !(full && journal.failed.has(song.id)))
    if (loved !== undefined) counts.unchanged += walk.songs.length - songs.length
    const storeIncomplete = async (now: boolean) => {
      if (!dryRun && now !== isIncomplete) await journal.setState({ retryAt: 0, isIncomplete: now })
      isIncomplete = now
    }
    if (walk.error !== undefined) {
      // Before a song is recorded as synced, because the next walk would end there, and until every song of this one is.
      await storeIncomplete(true)
      isPartly = true
      errors.push(walk.error.message)
      log.warn({ err: walk.error }, 'likedsongs: the liked songs could not be read to the end')
    }
    progress.total(songs.length + retries.length)
    let next = clock.now()
    // Songs that failed before come last, so that they never delay others.
    for (const song of [...songs.toReversed().map(toSong), ...retries]) {
      signal.throwIfAborted()
      if (dryRun) counts.added++
      else {
        if (next > clock.now()) await pause(clock, next - clock.now(), signal)
        next = clock.now() + gap
        await confirm?.()
        await sync(song, journal.failed.get(song.id))
      }
      progress.step(nameOf(song))
    }
    await storeIncomplete(walk.error !== undefined)
    if (walk.error !== undefined && songs.length + retries.length === 0) return result('failed')
    return result(isPartly ? 'partly' : 'done')
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof LastfmError || error instanceof UpstreamError || error instanceof SpotifyAuthorisationError))
      throw error
    log.warn({ err: error }, 'likedsongs: the run ended early')
    errors.unshift(error.message)
    const isRefused =
      error instanceof SpotifyAuthorisationError || (error instanceof LastfmError && error.failure === 'reauthorise')
    if (isRefused) return result('reauthorise')
    if (error instanceof LastfmError && error.failure !== 'unavailable') return result('failed')
    if (error instanceof UpstreamError && error.retryAt !== undefined) {
      const { retryAt } = error
      errors[0] = `${error.message}; rate limited until ${new Date(retryAt).toISOString()}`
      if (!dryRun) await journal.setState({ retryAt, isIncomplete })
      return result('rate_limited', retryAt)
    }
    return result(counts.added > 0 && !dryRun ? 'partly' : 'failed')
  } finally {
    for (const song of journal.failed.values()) if (isSetAside(song)) errors.push(describeSetAside(song))
  }
}
