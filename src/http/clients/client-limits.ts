import type { FastifyBaseLogger, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { SliceOf } from '../../settings/setting.ts'
import type { Clock } from '../../util/clock.ts'
import { tooManyRequests } from '../../util/errors.ts'
import { clients as settings } from './client-settings.ts'
import { createOpenCounts } from './open-counts.ts'

export type ClientSettings = SliceOf<typeof settings>
type RateName = Exclude<keyof ClientSettings, 'clientStreams' | 'clientConnections'>

/** Limits how often a client does something. One request counts once. */
export interface RateLimit {
  /**
   * Counts a request of its client and adds the headers that show the limit to the reply, also to one that is written without
   * Fastify.
   * @throws RequestError TOO_MANY_REQUESTS
   */
  count(request: FastifyRequest, reply: FastifyReply): void
  /** Counts each request of a route. */
  readonly onRequest: onRequestHookHandler
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly clientLimits: ClientLimits
  }
}

const windowMs = 60_000
/** Clients that are counted at the same time: about a megabyte. The one that was seen longest ago is forgotten first. */
const maxClients = 10_000
/** Seconds after which a client may try to open another event stream. */
const streamRetrySeconds = 10

interface Window {
  count: number
  /** Monotonic milliseconds. */
  readonly endsAt: number
}

/**
 * Counters per client. Not @fastify/rate-limit: it sets its headers on Fastify's reply, which the replies of these routes do not
 * send (reply.ts), counts only asynchronously, and so could not count just the pictures that must be rendered.
 */
export class ClientLimits {
  readonly #values: ClientSettings | undefined
  readonly #clock: Clock
  readonly #log: FastifyBaseLogger
  readonly #countStream: ReturnType<typeof createOpenCounts>
  readonly #rateLimits = new Map<RateName, RateLimit>()
  #hasWarned = false

  /** @param values without them nothing is limited */
  constructor(values: ClientSettings | undefined, clock: Clock, log: FastifyBaseLogger) {
    this.#values = values
    this.#clock = clock
    this.#log = log
    this.#countStream = createOpenCounts(values?.clientStreams ?? Number.POSITIVE_INFINITY)
  }

  /** The counter of this limit, one for all routes that it applies to. */
  rateLimit(name: RateName): RateLimit {
    const limit = this.#rateLimits.get(name) ?? this.#createRateLimit(name)
    this.#rateLimits.set(name, limit)
    return limit
  }

  /**
   * Counts an open event stream until its reply is closed.
   * @throws RequestError TOO_MANY_REQUESTS
   */
  openStream(request: FastifyRequest, { raw }: FastifyReply): void {
    if (this.#countStream(request.client, raw)) return
    const { env } = settings.clientStreams
    const detail = `${this.#values?.clientStreams} event streams of this client are open, which is the limit (${env}).`
    throw tooManyRequests(detail + this.#hintOf(request), streamRetrySeconds)
  }

  /** What to do about a client that seems to be a reverse proxy, whose visitors share one limit; empty for others. Logs that once. */
  #hintOf({ headers, ip, socket }: FastifyRequest): string {
    const isForwarded = (headers['x-forwarded-for'] ?? headers.forwarded) !== undefined
    if (ip !== socket.remoteAddress || !isForwarded) return ''
    const text = `${ip} has reached the limit of one client, but seems to be a reverse proxy; list it in TRUST_PROXY`
    if (!this.#hasWarned) this.#log.warn({ peer: ip }, text)
    this.#hasWarned = true
    return ' It seems to be a reverse proxy: to count its clients one by one, list it in TRUST_PROXY.'
  }

  #createRateLimit(name: RateName): RateLimit {
    const max = this.#values?.[name] ?? Number.POSITIVE_INFINITY
    // It takes its memory when it is created.
    let windows: LRUCache<string, Window> | undefined

    const count = (request: FastifyRequest, { raw }: FastifyReply): void => {
      if (max === Number.POSITIVE_INFINITY) return
      const now = this.#clock.now()
      windows ??= new LRUCache({ max: maxClients })
      let window = windows.get(request.client)
      if (window === undefined || now >= window.endsAt) {
        // Without the fraction: the time that remains would be rounded up to 61 s.
        window = { count: 0, endsAt: Math.floor(now) + windowMs }
        windows.set(request.client, window)
      }
      window.count++
      const seconds = Math.ceil((window.endsAt - now) / 1000)
      raw.setHeader('x-ratelimit-limit', max)
      raw.setHeader('x-ratelimit-remaining', Math.max(0, max - window.count))
      raw.setHeader('x-ratelimit-reset', seconds)
      if (window.count <= max) return
      const detail = `More than ${max} of these requests came from this client within a minute (${settings[name].env}); try again in ${seconds} s.`
      throw tooManyRequests(detail + this.#hintOf(request), seconds)
    }

    return {
      count,
      onRequest(request, reply, done) {
        count(request, reply)
        done()
      },
    }
  }
}
