/** Milliseconds after which a reply is no longer waited for. */
const timeoutMs = 20_000

/**
 * Loads a URL, or fails: a page that waits for a service that does not answer could not say so. Browsers wait for minutes.
 * @throws Error also while the body is read, if it takes too long
 */
export const request = (url: string): Promise<Response> => fetch(url, { signal: AbortSignal.timeout(timeoutMs) })

/** Calls a function now, and again and again while the page is visible. @param ms between two calls */
export function loadEvery(ms: number, load: () => unknown): void {
  setInterval(() => {
    if (!document.hidden) load()
  }, ms)
  load()
}

/** The JSON at a URL; undefined if the service does not send it. */
export async function loadJson<T>(url: string): Promise<T | undefined> {
  try {
    const response = await request(url)
    return response.ok ? ((await response.json()) as T) : undefined
  } catch {
    return undefined
  }
}
