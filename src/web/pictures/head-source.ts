import { LRUCache } from 'lru-cache'
import type { Clock } from '../../util/clock.ts'
import { HttpClient, HttpError } from '../../util/http-client.ts'
import { createLimiter } from '../../util/limiter.ts'
import type { Log } from '../../util/log.ts'
import { type PictureType, pictureType } from '../../util/picture-type.ts'
import { loadSharp } from '../../util/sharp.ts'

/** Maximum width and height in pixels. */
export const maxHead = 128
const maxBytes = 256 * 1024
const timeoutMs = 5_000
/** Milliseconds after which a head that waits for its turn is not requested. */
const maxWaitMs = 5_000
const maxRequests = 4
/** Maximum number of heads that are requested or wait: those of one page. */
const maxWaiting = 140
const maxHeads = 1_000
/** Milliseconds for which a head is cached, and for which a failed request is not repeated. */
const headTtlMs = 3_600_000
const failureTtlMs = 60_000

/** An SVG could refer to something else. */
const headTypes: readonly (PictureType | undefined)[] = ['png', 'jpeg', 'webp']

/** Fetches heads of players from the service at HEADS_URL. @param template a URL with `{uuid}` and optionally `{size}` */
export function createHeadSource(template: string, log: Log, clock: Clock) {
  // Without redirects, which could lead to a site that the operator did not configure.
  const client = new HttpClient({ timeoutMs, maxBytes })
  const heads = new LRUCache<string, Promise<Buffer | undefined>>({ max: maxHeads, ttl: headTtlMs })
  const inTurn = createLimiter(() => maxRequests)
  let pending = 0
  let isClosed = false
  let isFailing = false
  /** Whether the last request had no reply: an error may be about one player. */
  let isDown = false

  async function load(uuid: string): Promise<Buffer> {
    const url = template.replaceAll('{uuid}', uuid).replaceAll('{size}', String(maxHead))
    const headers = { accept: 'image/png, image/webp, image/jpeg' }
    const { status, body: bytes } = await client.request({ url: new URL(url), headers })
    if (status < 200 || status > 299) throw new Error(`the service answers ${status}`)
    if (!headTypes.includes(pictureType(bytes))) throw new Error('the reply is not a PNG, JPEG or WebP picture')
    const sharp = await loadSharp()
    return sharp(bytes, { limitInputPixels: 4_000_000, failOn: 'error' })
      .timeout({ seconds: 5 })
      .resize(maxHead, maxHead, { kernel: 'nearest', fit: 'cover' })
      .png()
      .toBuffer()
  }

  async function attempt(uuid: string): Promise<Buffer | undefined> {
    try {
      const head = await load(uuid)
      isFailing = false
      isDown = false
      return head
    } catch (error) {
      const { message } = error as Error
      const reason = error instanceof HttpError && error.kind === 'network' ? error.code : message
      if (!isFailing && !isClosed) {
        log.warn({ host: new URL(template).host, reason }, `cannot fetch heads (${reason}); patterns are shown instead`)
      }
      isFailing = true
      isDown = error instanceof HttpError && ['network', 'timeout'].includes(error.kind)
      heads.set(uuid, Promise.resolve(undefined), { ttl: failureTtlMs })
      return undefined
    }
  }

  async function request(uuid: string): Promise<Buffer | undefined> {
    const isAtOnce = pending++ < maxRequests
    const startedAt = clock.now()
    return inTurn(async () => {
      if (isAtOnce || (!isDown && clock.now() - startedAt < maxWaitMs)) return attempt(uuid)
      // The next page requests it.
      heads.delete(uuid)
      return undefined
    }).finally(() => pending--)
  }

  return {
    /**
     * The head as PNG; undefined if it is not available at the moment.
     * @param count called before it is requested: anyone could have heads of any UUID requested
     * @throws what `count` throws
     */
    async get(uuid: string, count: () => void): Promise<Buffer | undefined> {
      const before = heads.get(uuid)
      if (before !== undefined) return before
      // An immediate pattern is better than waiting for a service that did not answer before.
      if (pending >= (isDown ? maxRequests : maxWaiting) || isClosed) return undefined
      count()
      const head = request(uuid)
      heads.set(uuid, head)
      return head
    },
    async close(): Promise<void> {
      isClosed = true
      await client.close()
    },
  }
}
