import { createEventParser, type StreamEvent } from './event-parser.ts'

export interface StreamOptions {
  readonly url: string
  readonly onEvent: (event: StreamEvent) => void
  /** Called at each change: true while messages arrive. */
  readonly onConnected: (isConnected: boolean) => void
}

/** The service sends at least a comment in 15 s; a stream that is silent for this time, ms, is dead. */
const silenceLimit = 35_000
const firstDelay = 500
const maxDelay = 10_000

/**
 * Follows the events for as long as the page is open, and connects again with what it has missed. By fetch: an EventSource does
 * not notice a connection that died without a word.
 */
export function followEvents({ url, onEvent, onConnected }: StreamOptions): void {
  let lastId: string | undefined
  let delay = firstDelay

  async function follow(): Promise<void> {
    const stop = new AbortController()
    let silence = setTimeout(() => stop.abort(), silenceLimit)
    try {
      const headers = { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) }
      const response = await fetch(url, { headers, cache: 'no-store', signal: stop.signal })
      if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      const parse = createEventParser(onEvent, (id) => {
        lastId = id
      })
      onConnected(true)
      delay = firstDelay
      for (;;) {
        const { value, done } = await reader.read()
        if (done) return
        clearTimeout(silence)
        silence = setTimeout(() => stop.abort(), silenceLimit)
        parse(value)
      }
    } finally {
      clearTimeout(silence)
      stop.abort()
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await follow().catch(() => {})
      onConnected(false)
      await wait(delay)
      delay = Math.min(maxDelay, delay * 2)
    }
  }

  /** Ends at once when the machine is online again or the page is looked at. */
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
