import type { Response } from 'undici'
import { version } from '../util/package.ts'
import { readBody } from '../util/read-body.ts'
import { DiscoveryError } from './provider.ts'

const maxBytes = 32 * 1024 * 1024
const maxRedirects = 5
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** The content types that Prometheus accepts. */
const jsonType = /^application\/json\s*(;\s*charset=("utf-8"|utf-8)\s*)?$/i

/** A URL and its Authorization header, which is sent to its origin only. */
export interface Target {
  /** Without user name and password. */
  readonly url: URL
  readonly authorization: string | undefined
}

/** The HTTP client; see createClient(). */
type Client = Pick<typeof import('undici'), 'fetch'> & { readonly agent: import('undici').Agent }

/** Creates a client with separate connections for fetchJson(); the caller destroys its agent. Loads the library. */
export async function createClient(): Promise<Client> {
  const { Agent, fetch } = await import('undici')
  return { fetch, agent: new Agent() }
}

export interface FetchOptions {
  readonly client: Promise<Client>
  readonly signal: AbortSignal
  readonly deadlineMs: number
  readonly headers: Readonly<Record<string, string>>
}

/** The name shown to clients: host and last segment, because the whole path may be secret. */
export function nameOf({ host, pathname }: URL): string {
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return `${host}/${segments.length > 1 ? '.../' : ''}${segments.at(-1) ?? ''}`
}

/** @param token used if the URL has no user name and password */
export function toTarget(text: string, token: string | undefined): Target {
  const url = new URL(text)
  const { username, password } = url
  url.username = ''
  url.password = ''
  if (username === '' && password === '') return { url, authorization: token && `Bearer ${token}` }
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { url, authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** Sends a request and follows redirects, but not to another origin, which would then choose the servers that are polled. */
async function follow({ url, authorization }: Target, { client, headers }: FetchOptions, signal: AbortSignal): Promise<Response> {
  const { fetch, agent } = await client
  let at = url
  for (let count = 0; count <= maxRedirects; count++) {
    const response = await fetch(at, {
      dispatcher: agent,
      signal,
      redirect: 'manual',
      headers: {
        ...headers,
        accept: 'application/json',
        'user-agent': `tickwarden/${version}`,
        ...(authorization && { authorization }),
      },
    })
    const location = response.headers.get('location')
    if (!redirects.has(response.status) || location === null) return response
    await response.body?.cancel()
    if (!URL.canParse(location, at)) throw new DiscoveryError('it redirects to an invalid URL')
    const next = new URL(location, at)
    if (next.origin !== url.origin)
      throw new DiscoveryError(
        `it redirects to ${next.protocol}//${next.host}, another origin; set the URL there if you trust it`,
      )
    at = next
  }
  throw new DiscoveryError(`it redirects more than ${maxRedirects} times`)
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as {
    readonly cause?: { readonly code?: string; readonly message?: string }
    readonly message: string
  }
  return cause?.code ?? cause?.message ?? message
}

/**
 * Fetches a JSON document; requires status 200 and a JSON content type.
 * @throws DiscoveryError
 */
export async function fetchJson(target: Target, options: FetchOptions): Promise<string> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.deadlineMs)])
  try {
    const response = await follow(target, options, signal)
    const type = response.headers.get('content-type')
    const problem =
      response.status !== 200
        ? `the server returned status ${response.status}; expected 200`
        : jsonType.test(type ?? '')
          ? undefined
          : `the reply has the type ${JSON.stringify(type)}; expected application/json`
    if (problem !== undefined) {
      await response.body?.cancel()
      throw new DiscoveryError(problem)
    }
    const body = response.body === null ? Buffer.alloc(0) : await readBody(response.body, maxBytes)
    if (body === undefined) throw new DiscoveryError(`the reply has more than ${maxBytes} bytes`)
    return body.toString('utf8')
  } catch (error) {
    if (error instanceof DiscoveryError) throw error
    const reason = signal.aborted
      ? `no complete reply within ${options.deadlineMs} ms`
      : `it cannot be fetched (${reasonOf(error)})`
    throw new DiscoveryError(reason, { cause: error })
  }
}
