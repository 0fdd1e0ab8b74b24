import { createHash } from 'node:crypto'
import type { Outcome, RunContext, RunResult } from '../script.ts'
import { createUpstream, type UpstreamOptions } from '../upstream.ts'
import { UpstreamError } from '../upstream-error.ts'
import { maxWaitMs, pause } from '../waits.ts'
import { readAuthorisation, storeNewToken } from './authorisation.ts'
import { describeSetAside, isDue, isSetAside, journalPath, nameOf, openJournal, type Song } from './journal.ts'
import { callLastfm, classifyLastfm, isConfirmation, LastfmError, readLovedSongs, songKey } from './lastfm.ts'
import { createSpotify } from './spotify.ts'
import { walkLikedSongs } from './walk.ts'

/** After this many consecutive rejections of new songs, the run ends: the cause is the service, not the songs. */
const maxConsecutiveFailures = 5

interface LikedSongsOptions {
  /** Minimum milliseconds between two requests to Last.fm, which allows 5 per second. */
  readonly gap?: number
  /** Milliseconds before the first retry after a transient error of Last.fm, doubled each time; five times that for a rate limit. */
  readonly backOff?: number
}

/** Loves on Last.fm every song that is liked on Spotify, oldest first. Never unloves one. */
export async function runLikedSongs(
  context: RunContext,
  { gap = 200, backOff = 2000 }: LikedSongsOptions = {},
): Promise<RunResult> {
  const { values, dataDir, signal, log, clock, progress, counts, full, dryRun, confirm } = context
  const { lastfmApiKey: apiKey = '', lastfmApiSecret: apiSecret = '', lastfmSessionKey: sessionKey = '' } = values
  const { spotifyClientId: clientId = '', spotifyClientSecret: clientSecret = '', spotifyRefreshToken: token = '' } = values
  const keys = { apiKey, apiSecret, sessionKey }
  const account = createHash('sha256').update(sessionKey).digest('base64url').slice(0, 16)
  const journal = await openJournal(journalPath(dataDir), account)
  const { retryAt: blocked, isIncomplete: wasIncomplete } = journal.state
  const errors: string[] = []
  // A later time than any upstream may set is not valid: the clock was wrong.
  if (blocked > clock.wall() && blocked <= clock.wall() + maxWaitMs) {
    const error = `rate limited until ${new Date(blocked).toISOString()}: no request was sent`
    return { outcome: 'rate_limited', errors: [error], retryAt: blocked }
  }
  /** Whether the next run has to read the whole list if this one ends now. */
  let isIncomplete = wasIncomplete
  async function storeIncomplete(now: boolean): Promise<void> {
    if (!dryRun && now !== isIncomplete) await journal.setState({ retryAt: 0, isIncomplete: now })
    isIncomplete = now
  }

  const upstream = (name: string, baseUrl: string, more: Partial<UpstreamOptions> = {}) =>
    createUpstream(context, { name, baseUrl, ...more })
  const spotify = createSpotify(upstream('Spotify', values.spotifyAccountsUrl), upstream('Spotify', values.spotifyApiUrl), {
    ...{ clientId, clientSecret },
    refreshToken: (await readAuthorisation(dataDir, token)).refreshToken,
    // In a dry run too: the previous token may no longer be valid.
    onNewRefreshToken: (next) =>
      storeNewToken(dataDir, token, next).catch((error: unknown) =>
        log.error({ err: error }, 'likedsongs: the new Spotify refresh token could not be stored'),
      ),
  })
  const retrying = { classify: classifyLastfm, limitPause: 5 * backOff, retryPauseMs: backOff }
  const lastfm = upstream('Last.fm', values.lastfmApiUrl, retrying)

  /**
   * @returns why Last.fm rejected this song; undefined on success
   * @throws UpstreamError if the next song would fail too
   */
  async function love({ artist, title }: Song): Promise<Error | undefined> {
    try {
      const reply = await callLastfm(lastfm, 'track.love', { artist, track: title }, keys)
      if (isConfirmation(reply)) return undefined
      throw new UpstreamError('malformed', 'Last.fm: track.love: the reply does not confirm that the song is loved')
    } catch (error) {
      if (error instanceof LastfmError && error.failure === 'song') return error
      // A 500 concerns this song only; an outage is 502 or 503.
      if (error instanceof UpstreamError && error.status === 500) return error.explain('Last.fm: track.love: HTTP 500')
      throw error
    }
  }

  let isPartly = false
  let consecutiveFailures = 0
  /** Loves a song and records the result. @throws as love() */
  async function sync(song: Song): Promise<void> {
    const before = journal.failed.get(song.id)
    const rejection = await love(song)
    if (rejection === undefined) {
      consecutiveFailures = 0
      await journal.addLoved(song)
      counts.added++
      return
    }
    const { message: reason } = rejection
    await journal.addFailed({ ...song, reason, failures: (before?.failures ?? 0) + 1, tried: clock.wall() })
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
      if (!(error instanceof UpstreamError)) throw error
      errors.push(`the loved songs could not be read: ${error.message}; only songs that were never synced are loved`)
      log.warn({ err: error }, 'likedsongs: the loved songs could not be read')
      return undefined
    }
  }

  async function syncAll(): Promise<Outcome> {
    const retries = [...journal.failed.values()].filter((song) => full || isDue(song, clock.wall()))
    const loved = full ? await readLoved() : undefined
    const walk = await walkLikedSongs({
      ...{ likedSongs: spotify.likedSongs, known: journal.ids, isWhole: full || wasIncomplete },
      onPage(items, known) {
        counts.read += items
        if (loved === undefined) counts.unchanged += known
      },
    })
    const isLoved = ({ id, artist, title }: Song) =>
      loved === undefined ? journal.ids.has(id) : loved.has(songKey(artist, title))
    const songs = walk.songs.filter((song) => !isLoved(song) && !journal.failed.has(song.id))
    if (loved !== undefined) counts.unchanged += walk.songs.length - songs.length
    if (walk.error !== undefined) {
      // Before a song is recorded as synced, because the next walk would end there, and until every song of this one is.
      await storeIncomplete(true)
      isPartly = true
      errors.push(walk.error.message)
      log.warn({ err: walk.error }, 'likedsongs: the liked songs could not be read to the end')
    }
    // Songs that failed before come last, so that they never delay others.
    const all = [...songs.toReversed(), ...retries]
    progress.total(all.length)
    let next = clock.now()
    for (const song of all) {
      signal.throwIfAborted()
      if (dryRun) counts.added++
      else {
        if (next > clock.now()) await pause(clock, next - clock.now(), signal)
        next = clock.now() + gap
        await confirm?.()
        await sync(song)
      }
      progress.step(nameOf(song))
    }
    await storeIncomplete(walk.error !== undefined)
    if (walk.error !== undefined && all.length === 0) return 'failed'
    return isPartly ? 'partly' : 'done'
  }

  /** The result of a run that an error has ended. */
  async function failed(error: unknown): Promise<Pick<RunResult, 'outcome' | 'retryAt'>> {
    signal.throwIfAborted()
    if (!(error instanceof UpstreamError)) throw error
    log.warn({ err: error }, 'likedsongs: the run ended early')
    const { kind, message, retryAt } = error
    errors.unshift(retryAt === undefined ? message : `${message}; rate limited until ${new Date(retryAt).toISOString()}`)
    if (kind === 'reauthorise') return { outcome: 'reauthorise' }
    if (error instanceof LastfmError && error.failure !== 'unavailable') return { outcome: 'failed' }
    if (retryAt === undefined) return { outcome: counts.added > 0 ? 'partly' : 'failed' }
    if (!dryRun) await journal.setState({ retryAt, isIncomplete })
    return { outcome: 'rate_limited', retryAt }
  }

  const result = await syncAll().then((outcome) => ({ outcome }), failed)
  for (const song of journal.failed.values()) if (isSetAside(song)) errors.push(describeSetAside(song))
  return { ...result, errors }
}
