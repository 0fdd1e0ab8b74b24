import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { type SettingName, settings } from '../config/settings.ts'
import { openFolder } from '../data/runs/folder.ts'
import { storeGrant } from '../data/scripts/liked-songs/authorisation.ts'
import { callLastfm, LastfmError } from '../data/scripts/liked-songs/lastfm.ts'
import { describeTokenError } from '../data/scripts/liked-songs/spotify.ts'
import type { MusicService } from '../data/scripts/names.ts'
import { createUpstream, type Upstream } from '../data/scripts/upstream.ts'
import { UpstreamError } from '../data/scripts/upstream-error.ts'
import { basicAuthorization } from '../util/basic-authorization.ts'
import { systemClock } from '../util/clock.ts'
import { escapeControls } from '../util/escape-controls.ts'
import { writeAtomic } from '../util/files.ts'
import { textAt } from '../util/is-record.ts'
import type { Prompt } from './prompt.ts'

type AuthoriseConfig = Pick<Config, 'data' | 'scripts'>

/** The user at the terminal. */
export interface AuthoriseIo extends Pick<Console, 'log' | 'error'> {
  readonly readLine: Prompt['readLine']
  readonly signal: AbortSignal
}

/** An error that the user can fix; the message explains how. */
class AuthoriseError extends Error {
  override readonly name = 'AuthoriseError'
}

const scope = 'user-library-read'
const lastfmPage = 'https://www.last.fm/api/auth/'
const exitCodes = { done: 0, failed: 1, notConfigured: 4 } as const

/** The code from a redirect or from pasted text, which is the whole address or the code alone. */
function codeOf(given: string, state: string): string {
  if (!/[?&=/]/.test(given)) return given.trim()
  const query = new URLSearchParams(given.slice(given.indexOf('?') + 1))
  if (query.get('state') !== state)
    throw new AuthoriseError('The redirect does not belong to this request (another state); start again.')
  const code = query.get('code')
  if (code === null)
    throw new AuthoriseError(
      `Spotify refused access: ${escapeControls((query.get('error') ?? 'no code in the address').slice(0, 60))}`,
    )
  return code
}

/** Receives the redirect of the browser on a loopback port. */
async function listenForRedirect(state: string) {
  const server = createServer((request, response) => {
    const url = request.url ?? '/'
    if (!url.startsWith('/callback?')) return void response.writeHead(404).end()
    const end = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`)
    try {
      server.emit('code', codeOf(url, state))
      end(200, 'Done. You can close this page and return to the terminal.')
    } catch (error) {
      end(400, (error as Error).message)
      // Anyone can call this port: only a redirect with the right state ends the wait.
      if (url.includes(`state=${state}`)) server.emit('error', error)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // Of a redirect after the first one.
  server.on('error', () => {})
  const code = once(server, 'code').then(([received]) => received as string)
  // No unhandled rejection if the redirect arrives before the caller awaits it.
  code.catch(() => {})
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    code,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Asks for access, and returns the token. @throws AuthoriseError, UpstreamError, or the reason of the signal */
type Authorise = (config: AuthoriseConfig, io: AuthoriseIo, upstream: Upstream) => Promise<string>

const authoriseSpotify: Authorise = async ({ scripts: values }, { log, readLine, signal }, upstream) => {
  const keys = { clientId: values.spotifyClientId ?? '', clientSecret: values.spotifyClientSecret ?? '' }
  const state = randomBytes(16).toString('hex')
  const waiting = await listenForRedirect(state)
  const prompting = new AbortController()
  try {
    const url = new URL(`${values.spotifyAccountsUrl.replace(/\/$/, '')}/authorize`)
    url.search = new URLSearchParams({
      client_id: keys.clientId,
      response_type: 'code',
      redirect_uri: waiting.redirectUri,
      scope,
      state,
    }).toString()
    log(`Tickwarden requests one permission from Spotify: ${scope} (read your liked songs).`)
    log('Your Spotify application needs the redirect URI http://127.0.0.1/callback (Spotify accepts it with any port).')
    log(`Open this address in a browser and accept:\n\n  ${url.href}\n`)
    log('If the browser is on another machine, it ends on a page that does not load: paste the address of that page here.')
    const typed = async () => {
      for (;;) {
        const line = await readLine('Address or code: ', AbortSignal.any([signal, prompting.signal]))
        if (line.trim() !== '') return codeOf(line, state)
      }
    }
    const pasted = typed()
    pasted.catch(() => {})
    const code = await Promise.race([waiting.code, pasted])
    const form = { grant_type: 'authorization_code', code, redirect_uri: waiting.redirectUri }
    const headers = { authorization: basicAuthorization(keys.clientId, keys.clientSecret) }
    const request = { method: 'POST', path: '/api/token', headers, form } as const
    const { json } = await upstream.request(request).catch((error: unknown) => {
      if (!(error instanceof UpstreamError)) throw error
      if (textAt(error.body, 'error') !== 'invalid_grant') throw describeTokenError(error)
      throw new AuthoriseError('Spotify rejected the code: it is expired or was already used; start again.')
    })
    const token = textAt(json, 'refresh_token')
    if (token === undefined) throw new AuthoriseError("Spotify's reply has no refresh token; start again.")
    return token
  } finally {
    prompting.abort()
    waiting.close()
  }
}

const authoriseLastfm: Authorise = async ({ scripts: values }, { log, readLine, signal }, upstream) => {
  const keys = { apiKey: values.lastfmApiKey ?? '', apiSecret: values.lastfmApiSecret ?? '' }
  const token = textAt(await callLastfm(upstream, 'auth.getToken', {}, keys), 'token')
  if (token === undefined) throw new AuthoriseError("Last.fm's reply has no token; try again later.")
  log('Tickwarden requests access to your Last.fm account, to love songs. Last.fm offers no narrower permission.')
  log(`Open this address in a browser and accept:\n\n  ${lastfmPage}?${new URLSearchParams({ api_key: keys.apiKey, token })}\n`)
  for (;;) {
    await readLine('Then press Enter here: ', signal)
    try {
      const key = textAt(await callLastfm(upstream, 'auth.getSession', { token }, keys), 'session', 'key')
      if (key !== undefined) return key
      throw new AuthoriseError("Last.fm's reply has no session key; start again.")
    } catch (error) {
      // 14: the user has not accepted yet.
      if (!(error instanceof LastfmError) || error.code !== 14) throw error
      log('You have not accepted on the Last.fm page yet.')
    }
  }
}

const services = {
  spotify: {
    needed: ['spotifyClientId', 'spotifyClientSecret'],
    result: 'spotifyRefreshToken',
    baseUrl: 'spotifyAccountsUrl',
    title: 'Spotify',
    authorise: authoriseSpotify,
  },
  lastfm: {
    needed: ['lastfmApiKey', 'lastfmApiSecret'],
    result: 'lastfmSessionKey',
    baseUrl: 'lastfmApiUrl',
    title: 'Last.fm',
    authorise: authoriseLastfm,
  },
} as const satisfies Record<MusicService, { readonly needed: readonly SettingName[]; readonly [name: string]: unknown }>

/**
 * Guides the user through the authorisation, and writes the token to a file that only its owner can read.
 * @returns the exit code: 0 done, 1 failed, 4 not configured
 */
export async function runAuthorise(name: MusicService, config: AuthoriseConfig, io: AuthoriseIo): Promise<number> {
  const { needed, result, baseUrl, title, authorise } = services[name]
  const missing = needed.filter((setting) => config.scripts[setting] === undefined)
  if (missing.length > 0) {
    io.error(
      `not configured: set ${missing.map((setting) => settings[setting].env).join(', ')} (from your application's page at ${title})`,
    )
    return exitCodes.notConfigured
  }
  const upstream = createUpstream({ signal: io.signal, clock: systemClock }, { name: title, baseUrl: config.scripts[baseUrl] })
  try {
    const folder = resolve(config.data.dataDir ?? '.')
    // First, so that the user does not authorise access that cannot be stored.
    await openFolder(folder, false)
    const secret = await authorise(config, io, upstream)
    const { env } = settings[result]
    const file = join(folder, env.toLowerCase().replaceAll('_', '-'))
    await writeAtomic(file, `${secret}\n`, { mode: 0o600 })
    if (name === 'spotify') {
      await storeGrant(folder, secret, systemClock.wall())
      io.log('The authorisation expires after six months; run this command again before then. /v1/run shows the date.')
    }
    io.log(`Done. Written to ${file}, which only you can read. Set ${env}_FILE=${file}`)
    return exitCodes.done
  } catch (error) {
    if (io.signal.aborted) io.error('Stopped; nothing was written.')
    else if (error instanceof AuthoriseError || error instanceof UpstreamError) io.error(error.message)
    else throw error
    return exitCodes.failed
  } finally {
    upstream.close()
  }
}
