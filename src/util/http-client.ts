import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { basicAuthorization } from './basic-authorization.ts'
import { version } from './package.ts'
import { decodePart, hostOfUrl, parseUrl } from './parse-url.ts'
import { readBody } from './read-body.ts'

export interface HttpReply {
  readonly status: number
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** The status is enough: a body that is too long or incomplete is returned as an empty one. Default: false. */
  readonly isBodyOptional?: boolean
  /** Milliseconds from the first byte sent to the last received, redirects included; default: that of the client. */
  readonly timeoutMs?: number
}

export interface HttpClientOptions {
  readonly timeoutMs: number
  /** Maximum size of a body, uncompressed. */
  readonly maxBytes: number
  /** Redirects that are followed, within the same origin only; default 0: a redirect is a reply as any other. */
  readonly maxRedirects?: number
  /** What the paths begin with that redirects may lead to; default: a slash. */
  readonly redirectsTo?: string
  /** Whether an IP address may be connected to, checked after each name lookup; default: all. */
  readonly allows?: (address: string) => boolean
  /** Certificates of the authorities that are trusted, in PEM format; default: those of Node.js. */
  readonly ca?: string
}

/** `aborted` by close() or the caller; `address`: one that is not allowed; `redirect`: to another origin or path, to an invalid URL, or too many. */
export type HttpFailure = 'aborted' | 'address' | 'network' | 'redirect' | 'timeout' | 'too_large'

/** A request failed. The message is the reason, without URL, headers and body: those may contain secrets. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly kind: HttpFailure
  /** Of `network`: the code of the system or the library, else a message. */
  readonly code: string

  constructor(kind: HttpFailure, message: string, { code = '', cause }: { code?: string; cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.kind = kind
    this.code = code
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const addressNotAllowed = 'ADDRESS_NOT_ALLOWED'

/** A lookup that fails if it finds an address that is not allowed. */
const guardLookup =
  (allows: (address: string) => boolean): LookupFunction =>
  (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      const isAllowed = error !== null || found.every(({ address }) => allows(address))
      const failure = isAllowed ? error : Object.assign(new Error('address not allowed'), { code: addressNotAllowed })
      if (options.all) callback(failure, found)
      else callback(failure, found[0]?.address ?? '', found[0]?.family)
    })

function codeOf(error: unknown): string {
  const { cause, message, code } = error as { cause?: { code?: string; message?: string }; message: string; code?: unknown }
  return cause?.code ?? (typeof code === 'string' ? code : undefined) ?? cause?.message ?? message
}

/** Removes the user name and password from a URL, which fetch() would refuse. @returns their Authorization header; undefined for neither */
export function takeAuthorization(url: URL): string | undefined {
  const { username, password } = url
  url.username = ''
  url.password = ''
  if (username === '' && password === '') return undefined
  return basicAuthorization(decodePart(username), decodePart(password))
}

/** A name of a URL for clients: host and last segment, because the whole path may be secret. */
export function shortName({ host, pathname }: URL): string {
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return `${host}/${segments.length > 1 ? '.../' : ''}${segments.at(-1) ?? ''}`
}

/** HTTP requests with limits on time, size and redirects. The library is loaded for the first request. */
export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #closing = new AbortController()
  #library: Promise<{ fetch: typeof import('undici').fetch; agent: import('undici').Agent }> | undefined

  constructor(options: HttpClientOptions) {
    this.#options = options
  }

  /**
   * Resolves with any status, when the whole body has arrived.
   * @throws HttpError
   */
  async request(request: HttpRequest, signal?: AbortSignal): Promise<HttpReply> {
    const { maxBytes, timeoutMs: otherwise } = this.#options
    const { timeoutMs = otherwise } = request
    const late = AbortSignal.timeout(timeoutMs)
    const stop = AbortSignal.any([this.#closing.signal, late, ...(signal ? [signal] : [])])
    try {
      const response = await this.#follow(request, stop)
      const none = Buffer.alloc(0)
      const reading = response.body === null ? Promise.resolve(none) : readBody(response.body, maxBytes)
      const body = await (request.isBodyOptional ? reading.then((read) => read ?? none).catch(() => none) : reading)
      if (body === undefined) throw new HttpError('too_large', `the reply has more than ${maxBytes} bytes`)
      return { status: response.status, headers: Object.fromEntries(response.headers), body }
    } catch (cause) {
      if (cause instanceof HttpError) throw cause
      if (signal?.aborted || this.#closing.signal.aborted) throw new HttpError('aborted', 'the request was aborted', { cause })
      if (late.aborted) throw new HttpError('timeout', `no complete reply within ${timeoutMs} ms`, { cause })
      const code = codeOf(cause)
      if (code === addressNotAllowed) throw new HttpError('address', 'its address is not allowed', { code, cause })
      const reason = code === 'UND_ERR_SOCKET' ? 'the connection was closed' : code
      const { method = 'GET' } = request
      throw new HttpError('network', `it cannot be ${method === 'GET' ? 'fetched' : 'reached'} (${reason})`, { code, cause })
    }
  }

  async #follow({ method = 'GET', url, headers, body }: HttpRequest, signal: AbortSignal) {
    const { maxRedirects = 0, redirectsTo = '/', timeoutMs, allows, ca } = this.#options
    const host = hostOfUrl(url)
    // An address is not looked up.
    if (allows !== undefined && isIP(host) > 0 && !allows(host)) throw new HttpError('address', 'its address is not allowed')
    this.#library ??= import('undici').then(({ Agent, fetch }) => ({
      fetch,
      agent: new Agent({
        connect: { timeout: timeoutMs, ...(allows && { lookup: guardLookup(allows) }), ...(ca && { ca }) },
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
    }))
    const { fetch, agent } = await this.#library
    for (let [at, count] = [url, 0]; ; count++) {
      const response = await fetch(at, {
        ...{ dispatcher: agent, method, signal, redirect: 'manual', body: body ?? null },
        headers: { 'user-agent': `tickwarden/${version}`, ...headers },
      })
      const location = response.headers.get('location')
      if (maxRedirects === 0 || !redirects.has(response.status) || location === null) return response
      await response.body?.cancel()
      if (count === maxRedirects) throw new HttpError('redirect', `it redirects more than ${maxRedirects} times`)
      const next = parseUrl(location, at)
      if (next === undefined) throw new HttpError('redirect', 'it redirects to an invalid URL')
      if (next.origin !== url.origin) {
        const target = `${next.protocol}//${next.host}`
        throw new HttpError('redirect', `it redirects to ${target}, another origin; set the URL there if you trust it`)
      }
      if (!next.pathname.startsWith(redirectsTo)) throw new HttpError('redirect', `it redirects to a path outside ${redirectsTo}`)
      at = next
    }
  }

  /** Aborts the requests in progress. */
  async close(): Promise<void> {
    this.#closing.abort()
    await (await this.#library)?.agent.destroy()
  }
}
