import { LRUCache } from 'lru-cache'
import { type PreparedReply, prepare } from '../../http/replies/reply.ts'
import { unavailable } from '../../util/errors.ts'
import { createLimiter, type Limiter } from '../../util/limiter.ts'

const maxRunning = 4
/**
 * Maximum number of pictures that wait or are rendered, of one client and of all. The page of a server has up to 140 heads, which
 * a browser requests at once by HTTP/2.
 */
const [maxPendingOfClient, maxPending] = [140 + 1, 512 + maxRunning]
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

/** The client that a picture is rendered for. */
export interface PictureClient {
  readonly client: string
  /** Counts a rendering. @throws RequestError TOO_MANY_REQUESTS */
  count(): void
}

/**
 * Renders at most 4 pictures at once, and one of each client, so that a client with many does not delay the others. A picture that
 * is requested again while it is being rendered is rendered once.
 */
export function createRenderer() {
  const replies = new LRUCache<string, PreparedReply>({
    maxSize: maxCached,
    ttl,
    sizeCalculation: ({ body }, key) => body.length + 2 * key.length + 500,
  })
  const underWay = new Map<string, Promise<PreparedReply>>()
  const inTurn = createLimiter(() => maxRunning)
  /** Of each client, whose pictures wait for each other before they wait for those of others. */
  const clients = new Map<string, { readonly inTurn: Limiter; pending: number }>()
  let pending = 0

  async function render({ key, type, render }: Picture): Promise<PreparedReply> {
    const reply = prepare(await render(), type, {
      ...cacheControl,
      // An SVG opened as a page could run scripts; this forbids them.
      ...(type === 'image/svg+xml' && { 'content-security-policy': "default-src 'none'", 'x-content-type-options': 'nosniff' }),
    })
    replies.set(key, reply)
    return reply
  }

  async function renderInTurn(picture: Picture, client: string): Promise<PreparedReply> {
    const own = clients.get(client) ?? { inTurn: createLimiter(() => 1), pending: 0 }
    clients.set(client, own)
    own.pending++
    pending++
    try {
      return await own.inTurn(() => inTurn(() => render(picture)))
    } finally {
      pending--
      if (--own.pending === 0) clients.delete(client)
    }
  }

  return {
    /**
     * The picture as a reply, from the cache if it has been rendered before, which is not counted.
     * @throws RequestError TOO_MANY_REQUESTS, or TOO_MANY_PICTURES if too many are waiting
     */
    async reply(picture: Picture, { client, count }: PictureClient): Promise<PreparedReply> {
      const { key } = picture
      const before = replies.get(key) ?? underWay.get(key)
      if (before !== undefined) return before
      if (pending >= maxPending || (clients.get(client)?.pending ?? 0) >= maxPendingOfClient) {
        throw unavailable('TOO_MANY_PICTURES', 'Too many pictures are being rendered; try again in a moment.', 2)
      }
      count()
      const reply = renderInTurn(picture, client).finally(() => underWay.delete(key))
      underWay.set(key, reply)
      return reply
    },
  }
}
