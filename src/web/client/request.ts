/** Milliseconds after which a reply is no longer waited for. */
const timeoutMs = 20_000
/** A smaller difference, ms, may be due to the time that a reply takes. */
const minDifference = 5_000
/** Milliseconds by which the clock of the service is ahead of that of the reader's machine, which may be wrong by hours. */
let ahead = 0

/** Unix milliseconds, by the clock of the service. */
export const serviceTime = (): number => Date.now() + ahead

/** Compares the clocks. @param reply of the service, just received @param sentAt when it was requested, Unix milliseconds */
export function compareClocks({ headers }: Response, sentAt: number): void {
  const now = Date.now()
  const difference = Date.parse(headers.get('date') ?? '') - now
  // One that was late is of an unknown time.
  if (Number.isNaN(difference) || now - sentAt > minDifference) return
  ahead = Math.abs(difference) > minDifference ? difference : 0
}

/**
 * Loads a URL, or fails: a page that waits for a service that does not answer could not say so. Browsers wait for minutes.
 * @throws Error also while the body is read, if it takes too long
 */
export async function request(url: string): Promise<Response> {
  const sentAt = Date.now()
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
  compareClocks(response, sentAt)
  return response
}

/**
 * Calls a function now, and again and again while the page is visible: at once when it is shown again after a longer time.
 * @param ms between two calls
 */
export function loadEvery(ms: number, load: () => unknown): void {
  let loadedAt = 0
  function loadNow(): void {
    loadedAt = Date.now()
    load()
  }
  setInterval(() => document.hidden || loadNow(), ms)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && Math.abs(Date.now() - loadedAt) >= ms) loadNow()
  })
  loadNow()
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
