import { LRUCache } from 'lru-cache'
import { unavailable } from '../../errors.ts'
import { type PreparedReply, prepare } from '../../http/reply.ts'

const maxRunning = 4
const maxWaiting = 64
/** Bytes of the pictures that are cached. */
const maxCached = 16 * 1024 * 1024
/** Milliseconds after which a picture that is no longer requested is evicted. */
const ttl = 3_600_000
const cacheControl = { 'cache-control': 'public, max-age=30' }

export interface Picture {
  readonly type: 'image/png' | 'image/svg+xml'
  /** Identifies the content: the same key means the same picture. */
  readonly key: string
  render(): Promise<Buffer | string>
}

export interface Renderer {
  /**
   * The picture as a reply, from the cache if it has been rendered before.
   * @throws RequestError TOO_MANY_PICTURES if too many are waiting
   */
  reply(picture: Picture): Promise<PreparedReply>
}

/** Renders at most 4 pictures at once. A picture that is requested again while it is being rendered is rendered once. */
export function createRenderer(): Renderer {
  const replies = new LRUCache<string, PreparedReply>({
    maxSize: maxCached,
    ttl,
    sizeCalculation: ({ body }, key) => body.length + 2 * key.length + 500,
  })
  const underWay = new Map<string, Promise<PreparedReply>>()
  const waiting: (() => void)[] = []
  let running = 0

  async function render({ key, type, render }: Picture): Promise<PreparedReply> {
    if (running < maxRunning) running++
    // The slot is passed on by the one that ends.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      const reply = prepare(await render(), type, {
        ...cacheControl,
        // An SVG opened as a page could run scripts; this forbids them.
        ...(type === 'image/svg+xml' && { 'content-security-policy': "default-src 'none'", 'x-content-type-options': 'nosniff' }),
      })
      replies.set(key, reply)
      return reply
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }

  return {
    async reply(picture) {
      const { key } = picture
      const before = replies.get(key) ?? underWay.get(key)
      if (before !== undefined) return before
      if (waiting.length >= maxWaiting) {
        throw unavailable('TOO_MANY_PICTURES', 'Too many pictures are being rendered; try again in a moment.', 2)
      }
      const reply = render(picture).finally(() => underWay.delete(key))
      underWay.set(key, reply)
      return reply
    },
  }
}
