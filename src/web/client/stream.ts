import { createEventParser, type StreamEvent } from './event-parser.ts'

export interface StreamOptions {
  readonly url: string
  readonly onEvent: (event: StreamEvent) => void
  /** Called at each change: true while messages arrive. */
  readonly onConnected: (isConnected: boolean) => void
}

/** A stream without data for this time, ms, is treated as dead; the service sends at least a comment every 15 s. */
const silenceLimit = 35_000
const firstDelay = 500
const maxDelay = 10_000

/**
 * Reads the events while the page is open, and reconnects to receive the missed ones. With fetch(), because an EventSource does
 * not notice a dead connection.
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
