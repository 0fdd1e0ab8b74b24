import { LRUCache } from 'lru-cache'
import { unavailable } from '../../errors.ts'
import { type PreparedReply, prepare } from '../../http/reply.ts'

const maxRunning = 4
const maxWaiting = 64
/** Bytes of the pictures that are cached. */
const maxCached = 16 * 1024 * 1024
/** Milliseconds: a picture of a snapshot that nobody asks for again goes after a while. */
const ttl = 3_600_000
const cacheControl = { 'cache-control': 'public, max-age=30' }

export interface Picture {
  readonly type: 'image/png' | 'image/svg+xml'
  /** What it is made from: the same key, the same picture. */
  readonly key: string
  render(): Promise<Buffer | string>
}

export interface Renderer {
  /**
   * The picture as a reply, from the cache if it has been rendered before.
   * @throws RequestError TOO_MANY_PICTURES where too many wait already
   */
  reply(picture: Picture): Promise<PreparedReply>
}

/** Renders at most 4 pictures at once; what is asked for again while it is rendered is rendered once. */
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
    // The place is handed over by the one that ends.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      const reply = prepare(await render(), type, {
        ...cacheControl,
        // Opened as a page of its own an SVG could run scripts; these have none.
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
