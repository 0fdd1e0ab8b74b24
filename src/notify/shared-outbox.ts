import type { Clock } from '../util/clock.ts'
import { parseJsonIfValid } from '../util/json.ts'
import type { SharedLock, SharedQueue, SharedValues } from '../util/part-metrics.ts'
import { describeDropped, type Notification } from './notification.ts'
import { maxQueued, type Outbox } from './outbox.ts'
import type { Told } from './rules.ts'
import { isNotification, isTold } from './stored.ts'

export interface SharedOutboxOptions {
  readonly channel: string
  readonly queue: SharedQueue
  readonly values: SharedValues
  /** Takes the lock of the replica that sends; undefined if another one has it. */
  readonly takeLock: () => Promise<SharedLock | undefined>
  readonly clock: Pick<Clock, 'wall'>
}

/**
 * The outbox of one channel in the shared state. Of several replicas that tell the same change, the first is accepted; one of them sends, and
 * another continues when it dies.
 */
export class SharedOutbox implements Outbox {
  readonly #options: SharedOutboxOptions
  /** The stored texts of the notifications that were read last, by id. */
  #read = new Map<string, string>()
  #lock: SharedLock | undefined
  #asking: Promise<boolean> | undefined
  #length = 0
  /** Notifications of this replica for which there was no room, and which that is not told of yet. */
  #overflow = 0
  dropped = 0

  constructor(options: SharedOutboxOptions) {
    this.#options = options
  }

  get length(): number {
    return this.#length
  }

  async told(server: string): Promise<Told | undefined> {
    const { queue } = this.#options
    const text = await queue.value(server)
    if (text === undefined) return undefined
    const told = parseJsonIfValid(text)
    if (isTold(told)) return told
    // Another program wrote it. While it is there, nothing could be stored of the server, and so nothing told.
    await queue.commit({ field: server, before: text, after: '', items: [], maxItems: maxQueued })
    return undefined
  }

  async commit(
    server: string,
    before: Told | undefined,
    told: Told | undefined,
    notifications: readonly Notification[],
  ): Promise<boolean> {
    const text = (value: Told | undefined) => (value === undefined ? '' : JSON.stringify(value))
    const { queue, clock } = this.#options
    // Another change may be stored before this one is.
    const untold = this.#overflow
    this.#overflow = 0
    const about = untold > 0 ? [describeDropped(untold, clock.wall())] : []
    const items = [...about, ...notifications].map((notification) => JSON.stringify(notification))
    const change = { field: server, before: text(before), after: text(told), items, maxItems: maxQueued }
    let overflow: number | undefined
    try {
      overflow = await queue.commit(change)
    } finally {
      if (overflow === undefined) this.#overflow += untold
    }
    if (overflow === undefined) return false
    const own = Math.min(overflow, notifications.length)
    this.#overflow += own + (overflow > own ? untold : 0)
    this.dropped += own
    return true
  }

  async oldest(count: number): Promise<readonly Notification[]> {
    const { queue } = this.#options
    this.#length = await queue.length()
    if (this.#length === 0) return []
    if (!(await this.isSender())) return []
    const items = (await queue.oldest(count)).map((text) => {
      const item = parseJsonIfValid(text)
      return [text, isNotification(item) ? item : undefined] as const
    })
    await queue.remove(items.flatMap(([text, item]) => (item === undefined ? [text] : [])))
    this.#read = new Map(items.flatMap(([text, item]) => (item === undefined ? [] : [[item.id, text]])))
    return items.flatMap(([, item]) => item ?? [])
  }

  async remove(notifications: readonly Notification[]): Promise<void> {
    await this.#options.queue.remove(notifications.flatMap(({ id }) => this.#read.get(id) ?? []))
    this.#length = Math.max(0, this.#length - notifications.length)
  }

  async value(): Promise<string | undefined> {
    return (await this.#options.values.all())[this.#options.channel]
  }

  async setValue(value: string): Promise<void> {
    await this.#options.values.put(this.#options.channel, value)
  }

  /** The sender and the status message may ask at the same time: one of them would take the lock, and the other one forget it. */
  isSender(): Promise<boolean> {
    this.#asking ??= this.#holdLock().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #holdLock(): Promise<boolean> {
    if (this.#lock === undefined || this.#lock.lost.aborted || !(await this.#lock.isHeld()))
      this.#lock = await this.#options.takeLock()
    return this.#lock !== undefined
  }

  async close(): Promise<void> {
    await this.#lock?.release()
  }
}
