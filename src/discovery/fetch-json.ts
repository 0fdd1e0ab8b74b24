import { decodeText } from '../util/files.ts'
import { type HttpClient, HttpError, takeAuthorization } from '../util/http-client.ts'
import { DiscoveryError } from './provider.ts'

/** The content types that Prometheus accepts. */
const jsonType = /^application\/json\s*(;\s*charset=("utf-8"|utf-8)\s*)?$/i

/** A URL and its Authorization header, which is sent to its origin only. */
export interface Target {
  /** Without user name and password. */
  readonly url: URL
  readonly authorization: string | undefined
}

/** @param token used if the URL has no user name and password */
export function toTarget(text: string, token: string | undefined): Target {
  const url = new URL(text)
  const authorization = takeAuthorization(url) ?? (token && `Bearer ${token}`)
  return { url, authorization }
}

export interface FetchOptions {
  /** Follows redirects within the same origin: another one would then choose the servers that are polled. */
  readonly client: HttpClient
  readonly timeoutMs: number
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Fetches a JSON document; requires status 200 and a JSON content type.
 * @throws DiscoveryError
 */
export async function fetchJson({ url, authorization }: Target, { client, timeoutMs, headers }: FetchOptions): Promise<string> {
  try {
    const { status, body, ...reply } = await client.request({
      ...{ url, timeoutMs },
      headers: { ...headers, accept: 'application/json', ...(authorization && { authorization }) },
    })
    if (status !== 200) throw new DiscoveryError(`the server returned status ${status}; expected 200`)
    const type = reply.headers['content-type'] ?? null
    if (!jsonType.test(type ?? ''))
      throw new DiscoveryError(`the reply has the type ${JSON.stringify(type)}; expected application/json`)
    return decodeText(body)
  } catch (error) {
    throw error instanceof HttpError ? new DiscoveryError(error.message, { cause: error }) : error
  }
}
