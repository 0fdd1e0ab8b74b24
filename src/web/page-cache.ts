import type { Clock } from '../clock.ts'
import { type Coding, compress } from './encoding.ts'

/** The least and the most milliseconds for which a page is reused. */
const [minKeepFor, maxKeepFor] = [500, 10_000]
/** A page is reused for this multiple of the time that rendering it takes. */
const keepFactor = 10

/** A page that is expensive to render: rendered once for some time, and compressed once in each coding. */
export interface PageCache<K> {
  /**
   * @param key what the page is made from: another one renders it again
   * @param render returns the HTML
   */
  get(key: K, coding: Coding, render: () => Promise<string>): Promise<Buffer>
}

interface Page<K> {
  readonly key: K
  readonly at: number
  readonly html: Promise<string>
  readonly bodies: Map<Coding, Promise<Buffer>>
}

export function createPageCache<K>(clock: Clock): PageCache<K> {
  let last: Page<K> | undefined
  let keepFor = minKeepFor

  function renew(key: K, render: () => Promise<string>): Page<K> {
    const at = clock.now()
    const page = { key, at, html: render(), bodies: new Map() }
    page.html.then(
      () => {
        keepFor = Math.min(maxKeepFor, Math.max(minKeepFor, keepFactor * (clock.now() - at)))
      },
      () => {
        if (last === page) last = undefined
      },
    )
    return page
  }

  return {
    get(key, coding, render) {
      if (last === undefined || last.key !== key || clock.now() - last.at >= keepFor) last = renew(key, render)
      const { html, bodies } = last
      const body = bodies.get(coding) ?? html.then((text) => compress(text, coding))
      bodies.set(coding, body)
      return body
    },
  }
}
