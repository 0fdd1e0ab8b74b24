import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { systemClock } from '../clock.ts'
import { type SettingName, settings } from '../config/settings.ts'
import type { Config } from '../config.ts'
import { openFolder } from '../data/runs/folder.ts'
import { storeGrant } from '../data/scripts/liked-songs/authorisation.ts'
import { callLastfm, LastfmError } from '../data/scripts/liked-songs/lastfm.ts'
import type { MusicService } from '../data/scripts/liked-songs/services.ts'
import { basicAuthorization, describeTokenError, tokenErrorOf } from '../data/scripts/liked-songs/spotify.ts'
import { createUpstream, type Upstream, UpstreamError } from '../data/scripts/upstream.ts'
import { escapeControls } from '../escape-controls.ts'
import { isRecord } from '../game/protocol/is-record.ts'
import type { Prompt } from './prompt.ts'

type AuthoriseConfig = Pick<Config, 'data' | 'scripts'>

/** The user at the terminal. */
export interface AuthoriseIo {
  print(line: string): void
  readonly ask: Prompt['ask']
  readonly signal: AbortSignal
}

/** What the person can mend; the message says how. */
class AuthoriseError extends Error {
  override readonly name = 'AuthoriseError'
}

const scope = 'user-library-read'
const lastfmPage = 'https://www.last.fm/api/auth/'
const exitCodes = { done: 0, failed: 1, notConfigured: 4 } as const

/** The code of a redirect, or of what was pasted: the whole address, or the code alone. */
function codeOf(given: string, state: string): string {
  if (!/[?&=/]/.test(given)) return given.trim()
  const query = new URLSearchParams(given.slice(given.indexOf('?') + 1))
  if (query.get('state') !== state)
    throw new AuthoriseError('The answer is not the one to this request (its state differs); start again.')
  const code = query.get('code')
  if (code === null)
    throw new AuthoriseError(
      `Spotify did not agree: ${escapeControls((query.get('error') ?? 'no code in the address').slice(0, 60))}`,
    )
  return code
}

/** Receives the browser's return on a loopback port. */
async function listenForRedirect(state: string) {
  let received: (code: string) => void
  let refused: (error: unknown) => void
  const code = new Promise<string>((resolve, reject) => {
    received = resolve
    refused = reject
  })
  // Whoever waits handles it; nobody may be waiting yet.
  code.catch(() => {})
  const server = createServer((request, response) => {
    const url = request.url ?? '/'
    if (!url.startsWith('/callback?')) return void response.writeHead(404).end()
    const end = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`)
    try {
      received(codeOf(url, state))
      end(200, 'Done. You can close this page and go back to the terminal.')
    } catch (error) {
      end(400, (error as Error).message)
      // Anybody can call this port: only an answer to this very request ends the wait.
      if (url.includes(`state=${state}`)) refused(error)
    }
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    code,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function authoriseSpotify(
  { scripts: values }: AuthoriseConfig,
  { print, ask, signal }: AuthoriseIo,
  upstream: Upstream,
): Promise<string> {
  const keys = { clientId: values.spotifyClientId ?? '', clientSecret: values.spotifyClientSecret ?? '' }
  const state = randomBytes(16).toString('hex')
  const waiting = await listenForRedirect(state)
  const asking = new AbortController()
  try {
    const url = new URL(`${values.spotifyAccountsUrl.replace(/\/$/, '')}/authorize`)
    url.search = new URLSearchParams({
      client_id: keys.clientId,
      response_type: 'code',
      redirect_uri: waiting.redirectUri,
      scope,
      state,
    }).toString()
    print(`Tickwarden asks Spotify for one permission: ${scope} (read your liked songs).`)
    print('Your Spotify application needs the redirect URI http://127.0.0.1/callback (Spotify allows any port of it).')
    print(`Open this address in a browser and agree:\n\n  ${url.href}\n`)
    print(
      'On this machine that is all. From another one, the browser ends on a page that it cannot reach: paste its address here.',
    )
    const typed = async () => {
      for (;;) {
        const line = await ask('Address or code: ', AbortSignal.any([signal, asking.signal]))
        if (line.trim() !== '') return codeOf(line, state)
      }
    }
    const pasted = typed()
    pasted.catch(() => {})
    const code = await Promise.race([waiting.code, pasted])
    const request = {
      method: 'POST' as const,
      path: '/api/token',
      headers: { authorization: basicAuthorization(keys) },
      form: { grant_type: 'authorization_code', code, redirect_uri: waiting.redirectUri },
    }
    const { json } = await upstream.request(request).catch((error: unknown) => {
      if (!(error instanceof UpstreamError)) throw error
      if (tokenErrorOf(error) !== 'invalid_grant') throw describeTokenError(error)
      throw new AuthoriseError('Spotify does not accept this code: it was used before or is too old; start again.')
    })
    if (isRecord(json) && typeof json.refresh_token === 'string') return json.refresh_token
    throw new AuthoriseError('Spotify answered without a refresh token; start again.')
  } finally {
    asking.abort()
    waiting.close()
  }
}

async function authoriseLastfm(
  { scripts: values }: AuthoriseConfig,
  { print, ask, signal }: AuthoriseIo,
  upstream: Upstream,
): Promise<string> {
  const keys = { apiKey: values.lastfmApiKey ?? '', apiSecret: values.lastfmApiSecret ?? '' }
  const answer = await callLastfm(upstream, 'auth.getToken', {}, keys)
  const token = isRecord(answer) ? answer.token : undefined
  if (typeof token !== 'string') throw new AuthoriseError('Last.fm answered without a token; try again later.')
  print('Tickwarden asks Last.fm for access to your account, to love songs. Last.fm has no narrower permission.')
  print(`Open this address in a browser and agree:\n\n  ${lastfmPage}?${new URLSearchParams({ api_key: keys.apiKey, token })}\n`)
  for (;;) {
    await ask('Then press Enter here: ', signal)
    try {
      const session = await callLastfm(upstream, 'auth.getSession', { token }, keys)
      const key = isRecord(session) && isRecord(session.session) ? session.session.key : undefined
      if (typeof key === 'string') return key
      throw new AuthoriseError('Last.fm answered without a session key; start again.')
    } catch (error) {
      // 14: the person has not agreed yet.
      if (!(error instanceof LastfmError) || error.code !== 14) throw error
      print('Last.fm says that you have not agreed yet.')
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
} as const satisfies Record<
  MusicService,
  { readonly needed: readonly SettingName[]; readonly result: SettingName; readonly baseUrl: SettingName } & Record<
    string,
    unknown
  >
>

/**
 * Walks a person through giving access, and writes what was given to a file that only its owner may read.
 * @returns the exit code: 0 done, 1 failed, 4 not configured
 */
export async function runAuthorise(name: MusicService, config: AuthoriseConfig, io: AuthoriseIo): Promise<number> {
  const { needed, result, baseUrl, title, authorise } = services[name]
  const missing = needed.filter((setting) => config.scripts[setting] === undefined)
  if (missing.length > 0) {
    io.print(
      `not configured: set ${missing.map((setting) => settings[setting].env).join(', ')} (from your application's page at ${title})`,
    )
    return exitCodes.notConfigured
  }
  const upstream = createUpstream({ name: title, baseUrl: config.scripts[baseUrl], signal: io.signal, clock: systemClock })
  try {
    const folder = resolve(config.data.dataDir ?? '.')
    // Before anything is asked for: what was given could not be kept.
    await openFolder(folder, false)
    const secret = await authorise(config, io, upstream)
    const { env } = settings[result]
    const file = join(folder, env.toLowerCase().replaceAll('_', '-'))
    await writeFileAtomic(file, `${secret}\n`, { mode: 0o600 })
    if (name === 'spotify') {
      await storeGrant(folder, secret, systemClock.wall())
      io.print('Spotify ends this access after six months: run this command again before. /v1/run says when that is.')
    }
    io.print(`Done. It is in ${file}, which only you may read. Set ${env}_FILE=${file}`)
    return exitCodes.done
  } catch (error) {
    if (io.signal.aborted) io.print('Stopped; nothing was written.')
    else if (error instanceof AuthoriseError || error instanceof LastfmError || error instanceof UpstreamError)
      io.print(error.message)
    else throw error
    return exitCodes.failed
  } finally {
    upstream.close()
  }
}
