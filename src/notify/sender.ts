import { lookup } from 'node:dns/promises'
import ipaddr from 'ipaddr.js'
import { withoutZone } from '../util/address.ts'
import { backoffMs, withJitter } from '../util/backoff.ts'
import type { Clock } from '../util/clock.ts'
import { HttpClient, type HttpError, type HttpReply, type HttpRequest, takeAuthorization } from '../util/http-client.ts'
import { parseJson } from '../util/json.ts'
import type { Log } from '../util/log.ts'
import { oneAtATime } from '../util/one-at-a-time.ts'
import { type ChannelContext, type ChannelType, DeliveryError, maxShown } from './channels/channel.ts'
import { type Notification, severities, severityOf } from './notification.ts'
import type { Outbox } from './outbox.ts'
import type { ChannelSettings } from './settings.ts'

/** Notifications within so many milliseconds become one message. */
const joinMs = 5_000
const maxAgeMs = 24 * 3_600_000
const backoff = { firstMs: 1_000, maxMs: 300_000 } as const
/** The longest pause that a receiver can ask for, milliseconds. */
const maxPauseMs = 3_600_000
const timeoutMs = 10_000
const maxReplyBytes = 256 * 1024
/** Read at once: more than become one message, so that those that are not shown are counted. */
const maxRead = 1_000

/** Whether an IP address is one of the internet: not of this machine, a private network or a special purpose. */
function isPublicAddress(address: string): boolean {
  try {
    return ipaddr.process(withoutZone(address)).range() === 'unicast'
  } catch {
    return false
  }
}

export const createChannelClient = (allowPrivate: boolean): HttpClient =>
  new HttpClient({ timeoutMs, maxBytes: maxReplyBytes, ...(!allowPrivate && { allows: isPublicAddress }) })

/** The pause that a reply asks for, milliseconds; undefined if it asks for none. */
function pauseOf({ headers, body, status }: HttpReply, type: ChannelType, now: number): number | undefined {
  const isLimited = status === 429
  const isUsedUp = headers['x-ratelimit-remaining'] === '0'
  const after = headers['retry-after'] ?? ''
  const date = Number.isNaN(Number(after)) ? Date.parse(after) - now : Number(after) * 1_000
  const { 'x-ratelimit-reset-after': resetAfter, 'x-ratelimit-reset': resetAt } = headers
  const resetMs = resetAfter === undefined ? Number(resetAt ?? Number.NaN) * 1_000 - now : Number(resetAfter) * 1_000
  const reset = isLimited || isUsedUp ? resetMs : Number.NaN
  let inBody = Number.NaN
  try {
    inBody = isLimited ? (type.retryAfterMs?.(parseJson(body.toString())) ?? Number.NaN) : Number.NaN
  } catch {}
  const pauses = [date, reset, inBody].filter((pause) => pause > 0)
  return pauses.length === 0 ? undefined : Math.min(maxPauseMs, Math.max(...pauses))
}

/**
 * Those of the notifications that a message has room for, in their order: the worst, so that none of them is only counted, and last what
 * was before a server was up again, so that it is not shown as down.
 */
function worstOf(all: readonly Notification[]): readonly Notification[] {
  const upAgain = new Map(all.flatMap(({ server, event }, index) => (event === 'up' ? [[server, index]] : [])))
  const ranked = all.map((notification, index) => {
    const isOver = index < (upAgain.get(notification.server) ?? 0)
    return { notification, rank: isOver ? severities.length : severities.indexOf(severityOf(notification.event)) }
  })
  const first = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, maxShown)
  const worst = new Set(first.map(({ notification }) => notification))
  return all.filter((notification) => worst.has(notification))
}

const notAllowed = () => new DeliveryError('its address is private; set notify.allowPrivate to allow it', { isTemporary: false })

/** Sends the requests of a channel. A reply that asks for a pause is reported to `onPause` although it was successful. */
export function createContext(
  {
    type,
    client,
    allowPrivate,
    now,
  }: { readonly type: ChannelType; readonly client: HttpClient; readonly allowPrivate: boolean; readonly now: () => number },
  onPause: (ms: number) => void = () => {},
): ChannelContext {
  return {
    async request(request: HttpRequest) {
      let reply: HttpReply
      const url = new URL(request.url)
      const authorization = takeAuthorization(url)
      const headers = { ...(authorization !== undefined && { authorization }), ...request.headers }
      try {
        reply = await client.request({ ...request, url, headers, isBodyOptional: true })
      } catch (error) {
        const { kind, message } = error as HttpError
        if (kind === 'address') throw notAllowed()
        throw new DeliveryError(message)
      }
      const { status } = reply
      const retryAfterMs = pauseOf(reply, type, now())
      if (status >= 200 && status < 300) {
        if (retryAfterMs !== undefined) onPause(retryAfterMs)
        return reply
      }
      const isTemporary = status === 408 || status === 429 || status >= 500
      const hint = status < 400 ? ', a redirect, which is not followed: set its URL to where it leads' : ''
      throw new DeliveryError(`it answers ${status}${hint}`, { isTemporary, retryAfterMs, status })
    },
    async resolve(host) {
      if (allowPrivate) return host
      const found = await lookup(host, { all: true }).catch((error: NodeJS.ErrnoException) => {
        throw new DeliveryError(`the name cannot be resolved (${error.code})`)
      })
      if (!found.every(({ address }) => isPublicAddress(address))) throw notAllowed()
      return found[0]?.address ?? host
    },
  }
}

export interface SenderOptions {
  readonly settings: Pick<ChannelSettings, 'name' | 'type' | 'values'>
  readonly outbox: Outbox
  readonly client: HttpClient
  readonly allowPrivate: boolean
  readonly publicUrl?: string | undefined
  readonly clock: Clock
  readonly log: Log
  readonly random?: () => number
  /** Milliseconds within which notifications become one message; default 5 s. */
  readonly joinWithinMs?: number
}

/** Counts since the start. */
export interface ChannelCounts {
  sent: number
  failed: number
}

/** Delivers the notifications of one channel one after the other, so that their order is kept and no other channel waits for it. */
export class Sender {
  readonly counts: ChannelCounts = { sent: 0, failed: 0 }
  /** Why the last attempt failed; undefined if it did not. */
  problem: string | undefined
  readonly context: ChannelContext
  readonly #options: SenderOptions
  #isClosed = false
  #failures = 0
  /** Monotonic milliseconds before which nothing is sent. */
  #pausedUntil = 0
  #endWait = () => {}

  constructor(options: SenderOptions) {
    this.#options = options
    const { settings, client, allowPrivate, clock } = options
    this.context = createContext({ type: settings.type, client, allowPrivate, now: () => clock.wall() }, (ms) => {
      this.#pausedUntil = clock.now() + ms
    })
  }

  /** Sends what waits. To be called after notifications have been added. Never rejects. */
  readonly wake = oneAtATime(async () => {
    const { log, settings } = this.#options
    try {
      while (!this.#isClosed && (await this.#sendNext()));
    } catch (error) {
      // The outbox is not available: it wakes the sender when it is.
      log.debug({ err: error, channel: settings.name }, 'the notifications cannot be read')
    }
  })

  /** Ends the pause; an attempt that has begun is finished or aborted by the caller's client. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#endWait()
    await this.wake()
  }

  /** Returns whether there may be more to send. */
  async #sendNext(): Promise<boolean> {
    const { outbox, settings, clock, publicUrl, joinWithinMs = joinMs } = this.#options
    const { joins } = settings.type
    const [first] = await outbox.oldest(1)
    if (first === undefined) {
      // Another replica sends now, so this one would report its failure for ever.
      if (this.problem !== undefined && !(await outbox.isSender())) this.problem = undefined
      return false
    }
    if (joins) await this.#wait(Math.min(joinWithinMs, first.queuedAt + joinWithinMs - clock.wall()))
    await this.#wait(this.#pausedUntil - clock.now())
    if (this.#isClosed) return false
    const waiting = await outbox.oldest(joins ? maxRead : 1)
    if (waiting[0]?.id !== first.id) return true
    const end = waiting.findIndex(({ queuedAt }) => Math.abs(queuedAt - first.queuedAt) > joinWithinMs)
    const all = end === -1 ? waiting : waiting.slice(0, end)
    const notifications = worstOf(all)
    try {
      await settings.type.send(
        { notifications, more: all.length - notifications.length, at: clock.wall(), publicUrl },
        settings.values,
        this.context,
      )
      this.#failures = 0
      this.problem = undefined
      this.counts.sent += all.length
    } catch (error) {
      if (this.#isClosed) return false
      if (!(await this.#fail(error as Error, first.queuedAt, all.length))) return true
    }
    await outbox.remove(all)
    return true
  }

  /** Returns whether the message is given up. */
  async #fail(error: Error, queuedAt: number, count: number): Promise<boolean> {
    const { settings, clock, log, random = Math.random } = this.#options
    const { name: channel } = settings
    const { isTemporary = true, retryAfterMs } = error as Partial<DeliveryError>
    const isTooOld = clock.wall() - queuedAt >= maxAgeMs
    const isNew = this.problem === undefined
    this.problem = error.message
    if (!isTemporary || isTooOld) {
      this.#failures = 0
      this.counts.failed += count
      const reason = isTooOld ? `for 24 hours: ${error.message}` : error.message
      log.error(
        { channel, count },
        `${channel}: ${count === 1 ? 'a notification is' : `${count} notifications are`} given up (${reason})`,
      )
      return true
    }
    this.#failures++
    const pause = withJitter(backoffMs(this.#failures, backoff), 0.2, random)
    if (isNew)
      log.warn({ channel }, `${channel}: a notification cannot be sent (${error.message}); it is tried again for 24 hours`)
    await this.#wait(Math.max(pause, retryAfterMs ?? 0))
    return false
  }

  async #wait(ms: number): Promise<void> {
    if (ms <= 0 || this.#isClosed) return
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve)
      this.#endWait = () => {
        cancel()
        resolve()
      }
    })
  }
}
