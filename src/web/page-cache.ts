import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Coding } from '../http/replies/accept.ts'
import type { Clock } from '../util/clock.ts'

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Compressed in a thread pool, at a level for pages that are rendered for each request. */
export async function compress(text: string, coding: Coding): Promise<Buffer> {
  const bytes = Buffer.from(text)
  if (coding === 'br') return brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  return coding === 'gzip' ? zip(bytes, { level: 6 }) : bytes
}

/** Milliseconds for which a page is reused, counted from the start of its rendering. */
const [minReuseMs, maxReuseMs] = [500, 10_000]
/** A page is reused for this multiple of the time that rendering it takes. */
const reuseFactor = 10

interface Page<K> {
  readonly key: K
  /** Monotonic milliseconds from which on it is not reused. */
  reuseUntil: number
  readonly html: Promise<string>
  readonly bodies: Map<Coding, Promise<Buffer>>
}

/** A page that is expensive to render: rendered once for some time, one at a time, and compressed once in each coding. */
export function createPageCache<K>(clock: Clock) {
  let last: Page<K> | undefined

  function renew(key: K, render: () => Promise<string>): Page<K> {
    const startedAt = clock.now()
    // While it is being rendered it is never too old: rendering it twice at the same time would take twice as long.
    const page: Page<K> = { key, reuseUntil: Number.POSITIVE_INFINITY, html: render(), bodies: new Map() }
    page.html.then(
      () => {
        page.reuseUntil = startedAt + Math.min(maxReuseMs, Math.max(minReuseMs, reuseFactor * (clock.now() - startedAt)))
      },
      () => {
        if (last === page) last = undefined
      },
    )
    return page
  }

  return {
    /**
     * @param key what the page is made from: the page is rendered again for another key
     * @param render returns the HTML
     */
    get(key: K, coding: Coding, render: () => Promise<string>): Promise<Buffer> {
      if (last === undefined || last.key !== key || clock.now() >= last.reuseUntil) last = renew(key, render)
      const { html, bodies } = last
      const body = bodies.get(coding) ?? html.then((text) => compress(text, coding))
      bodies.set(coding, body)
      return body
    },
  }
}
