import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
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

export interface ClientLimits {
  /** The counter of this limit, one for all routes that it applies to. */
  rateLimit(name: RateName): RateLimit
  /**
   * Counts an open event stream until its reply is closed.
   * @throws RequestError TOO_MANY_REQUESTS
   */
  openStream(request: FastifyRequest, reply: FastifyReply): void
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
 * @param values without them nothing is limited
 */
export function createClientLimits(values: ClientSettings | undefined, clock: Clock, log: FastifyBaseLogger): ClientLimits {
  const maxStreams = values?.clientStreams ?? Number.POSITIVE_INFINITY
  const countStream = createOpenCounts(maxStreams)
  let hasWarned = false

  /** Otherwise the visitors of a whole site would share one limit without a sign of the reason. */
  function warnOfProxy({ headers, ip, socket }: FastifyRequest): void {
    if (hasWarned || ip !== socket.remoteAddress || (headers['x-forwarded-for'] ?? headers.forwarded) === undefined) return
    hasWarned = true
    log.warn({ peer: ip }, `${ip} has reached the limit of one client, but seems to be a reverse proxy; list it in TRUST_PROXY`)
  }

  function createRateLimit(name: RateName): RateLimit {
    const max = values?.[name] ?? Number.POSITIVE_INFINITY
    const windows = new LRUCache<string, Window>({ max: maxClients })

    function windowOf(client: string, now: number): Window {
      const before = windows.get(client)
      if (before !== undefined && now < before.endsAt) return before
      // Without the fraction: the time that remains would be rounded up to 61 s.
      const window = { count: 0, endsAt: Math.floor(now) + windowMs }
      windows.set(client, window)
      return window
    }

    function count(request: FastifyRequest, { raw }: FastifyReply): void {
      if (max === Number.POSITIVE_INFINITY) return
      const now = clock.now()
      const window = windowOf(request.client, now)
      window.count++
      const seconds = Math.ceil((window.endsAt - now) / 1000)
      raw.setHeader('x-ratelimit-limit', max)
      raw.setHeader('x-ratelimit-remaining', Math.max(0, max - window.count))
      raw.setHeader('x-ratelimit-reset', seconds)
      if (window.count <= max) return
      warnOfProxy(request)
      const detail = `More than ${max} of these requests came from this client within a minute (${settings[name].env}); try again in ${seconds} s.`
      throw tooManyRequests(detail, seconds)
    }

    return {
      count,
      onRequest(request, reply, done) {
        count(request, reply)
        done()
      },
    }
  }

  function openStream(request: FastifyRequest, { raw }: FastifyReply): void {
    if (countStream(request.client, raw)) return
    warnOfProxy(request)
    const detail = `${maxStreams} event streams of this client are open, which is the limit (${settings.clientStreams.env}).`
    throw tooManyRequests(detail, streamRetrySeconds)
  }

  const rateLimits = new Map<RateName, RateLimit>()
  return {
    rateLimit(name) {
      const limit = rateLimits.get(name) ?? createRateLimit(name)
      rateLimits.set(name, limit)
      return limit
    },
    openStream,
  }
}

/** Makes the limits available to the routes. */
export function registerClientLimits(app: FastifyInstance, values: ClientSettings | undefined, clock: Clock): void {
  app.decorate('clientLimits', createClientLimits(values, clock, app.log))
}
