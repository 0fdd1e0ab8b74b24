import { createEventParser, type StreamEvent } from './event-parser.ts'
import { compareClocks } from './request.ts'

/** Whether values arrive by the stream, by polling because the service accepts no further stream, or not at all. */
export type Connection = 'live' | 'polling' | 'reconnecting'

export interface StreamOptions {
  readonly url: string
  /** The id of the last event whose change the page has. */
  readonly lastId?: string
  readonly onEvent: (event: StreamEvent) => void
  /** Loads the current values in place of events; false if the service does not send them. Never rejects. */
  readonly poll: () => Promise<boolean>
  /** Called whenever the service has sent anything, and when it has not. */
  readonly onConnection: (connection: Connection) => void
}

/** A stream without data for this time, ms, is treated as dead; the service sends at least a comment every 15 s. */
const silenceLimit = 35_000
const firstDelay = 500
const maxDelay = 60_000
/** A stream that has lasted this long, ms, was not ended because this client is too slow or the service restarts all the time. */
const stableAfter = 60_000
const pollDelay = 5_000
/** A hidden page ends its stream after this time, ms: browsers allow six connections to a service over HTTP/1.1, for all tabs. */
const hiddenAfter = 5_000
/** How often a hidden page loads the values, ms, for its title and icon. */
const hiddenDelay = 60_000
/** The service has reached a limit of its event streams. */
const refusals: readonly number[] = [429, 503]
/** Time after which a refused stream is requested again, ms; a random time is added, so that not all clients do so at once. */
const [minRefusal, maxRefusal] = [10_000, 300_000]

/** Milliseconds for which the service refuses a stream; undefined if it does not. */
function refusalOf({ status, headers }: Response): number | undefined {
  if (!refusals.includes(status)) return undefined
  const wanted = Number(headers.get('retry-after')) * 1000
  return Math.min(maxRefusal, Math.max(minRefusal, wanted || 0)) * (1 + Math.random() / 2)
}

/**
 * Reads the events while the page is open, and reconnects to receive the missed ones. With fetch(), because an EventSource does
 * not notice a dead connection. While the service refuses the stream, the values are polled.
 */
export function followEvents({ url, onEvent, poll, onConnection, ...options }: StreamOptions): void {
  let { lastId } = options
  let delay = firstDelay

  /** @returns milliseconds until the stream may be requested again; undefined if it has ended */
  async function follow(): Promise<number | undefined> {
    const startedAt = Date.now()
    const stop = new AbortController()
    let heardAt = startedAt
    // By the time of day: a timer may stand still while the machine is asleep. The clock may also be set back.
    const silence = setInterval(() => Math.abs(Date.now() - heardAt) > silenceLimit && stop.abort(), 1_000)
    let hiding: ReturnType<typeof setTimeout> | undefined
    const onVisibility = () => {
      clearTimeout(hiding)
      if (document.hidden) hiding = setTimeout(() => stop.abort(), hiddenAfter)
    }
    document.addEventListener('visibilitychange', onVisibility)
    try {
      const headers = { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) }
      const response = await fetch(url, { headers, cache: 'no-store', signal: stop.signal })
      compareClocks(response, startedAt)
      const refusal = refusalOf(response)
      if (refusal !== undefined) return refusal
      // Another program may answer in place of the service, such as one with a page to log in.
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
      if (!response.ok || !isStream || response.body === null) throw new Error(`no events, status ${response.status}`)
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      const parse = createEventParser(onEvent, (id) => {
        lastId = id
      })
      for (;;) {
        onConnection('live')
        const { value, done } = await reader.read()
        if (done) return undefined
        heardAt = Date.now()
        parse(value)
      }
    } finally {
      document.removeEventListener('visibilitychange', onVisibility)
      clearTimeout(hiding)
      clearInterval(silence)
      stop.abort()
      if (Date.now() - startedAt > stableAfter) delay = firstDelay
    }
  }

  async function run(): Promise<void> {
    // Opened in the background: the service has not been asked anything yet.
    if (document.hidden) await pollOnce()
    for (;;) {
      if (document.hidden) await waitUntilVisible()
      const refusal = await follow().catch(() => undefined)
      if (refusal !== undefined) {
        await pollFor(refusal)
        continue
      }
      if (document.hidden) continue
      onConnection('reconnecting')
      await wait(delay)
      delay = Math.min(maxDelay, delay * 2)
    }
  }

  async function pollOnce(): Promise<void> {
    onConnection((await poll()) ? 'polling' : 'reconnecting')
  }

  async function waitUntilVisible(): Promise<void> {
    delay = firstDelay
    await wait(hiddenDelay)
    while (document.hidden) {
      await pollOnce()
      await wait(hiddenDelay)
    }
  }

  async function pollFor(ms: number): Promise<void> {
    delay = firstDelay
    const end = Date.now() + ms
    do {
      await pollOnce()
      await wait(pollDelay)
    } while (Date.now() < end)
  }

  /** Ends at once when the machine is online again or the page becomes visible. */
  function wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        removeEventListener('online', done)
        document.removeEventListener('visibilitychange', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      addEventListener('online', done)
      document.addEventListener('visibilitychange', done)
    })
  }

  run()
}
