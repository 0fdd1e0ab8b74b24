import type { IncomingMessage } from 'node:http'

declare module 'node:http' {
  interface IncomingMessage {
    /** True if the request line had a whole URL, which clients send to a proxy. */
    isAbsoluteForm?: boolean
  }
}

/**
 * Brings the target of a request into the form that the routes expect, a path with a query: a whole URL (RFC 9112, section 3.2.2)
 * is replaced by its path, and its host replaces the Host header.
 * @returns false if it has no path, such as `*`
 */
export function normaliseTarget(request: IncomingMessage): boolean {
  const { url = '' } = request
  if (url.startsWith('/')) return true
  const [, host, path] = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url) ?? []
  // `OPTIONS *` is about the whole server.
  if (host === undefined || path === undefined) return url === '*' && request.method === 'OPTIONS'
  request.isAbsoluteForm = true
  request.url = path.startsWith('/') ? path : `/${path}`
  request.headers.host = host
  return true
}
