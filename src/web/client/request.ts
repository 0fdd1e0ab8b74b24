/** Milliseconds after which a reply is no longer waited for. */
const timeout = 20_000

/**
 * Loads a URL, or fails: a page that waits for a service that does not answer could not say so. Browsers wait for minutes.
 * @throws Error also while the body is read, if it takes too long
 */
export function request(url: string): Promise<Response> {
  const stop = new AbortController()
  setTimeout(() => stop.abort(), timeout)
  return fetch(url, { signal: stop.signal })
}
