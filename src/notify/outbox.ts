import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../util/clock.ts'
import { readTextIfExists, writeAtomic } from '../util/files.ts'
import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'
import type { Log } from '../util/log.ts'
import { describeDropped, type Notification } from './notification.ts'
import type { Told } from './rules.ts'
import { isNotification, isTold } from './stored.ts'

/** Maximum number of notifications that wait for a channel. */
export const maxQueued = 1_000
const maxFileBytes = 64 * 1024 * 1024

/** What a channel has been told, and what it must still be told. Stored before it is sent. */
export interface Outbox {
  /** @throws Error if it cannot be read now */
  told(server: string): Promise<Told | undefined>
  /**
   * Stores what has been told of a server with the notifications of it, in one step.
   * @param before what was told until now
   * @returns false if another replica was first: then nothing is stored
   */
  commit(
    server: string,
    before: Told | undefined,
    told: Told | undefined,
    notifications: readonly Notification[],
  ): Promise<boolean>
  /** Whether this process sends, and not another replica. */
  isSender(): Promise<boolean>
  /** The oldest notifications, once they are on disk. Empty if another replica sends them. */
  oldest(count: number): Promise<readonly Notification[]>
  /** Removes the oldest notifications. */
  remove(notifications: readonly Notification[]): Promise<void>
  /** Notifications that wait. */
  readonly length: number
  /** Notifications for which there was no room, since the start. */
  readonly dropped: number
  /** A value kept for the channel, such as the id of its status message. */
  value(): Promise<string | undefined>
  setValue(value: string): Promise<void>
  close(): Promise<void>
}

export interface FileOutboxOptions {
  /** Absent: in memory only. */
  readonly folder?: string | undefined
  readonly channel: string
  readonly log: Log
  readonly clock: Pick<Clock, 'wall'>
}

/** The outbox of one channel in a file. One process writes it. */
export class FileOutbox implements Outbox {
  readonly #options: FileOutboxOptions
  #path: string | undefined
  readonly #told = new Map<string, Told>()
  #queue: Notification[] = []
  #value: string | undefined
  #overflow = 0
  dropped = 0
  #isFailing = false
  #isDirty = false
  #writing: Promise<void> | undefined

  private constructor(options: FileOutboxOptions) {
    this.#options = options
    this.#path = options.folder === undefined ? undefined : join(options.folder, `${options.channel}.json`)
  }

  /** Reads the file of an earlier process. One that is not valid is renamed; one that cannot be read now stays as it is. */
  static async open(options: FileOutboxOptions): Promise<FileOutbox> {
    const outbox = new FileOutbox(options)
    const path = outbox.#path
    if (path === undefined) return outbox
    try {
      const text = await readTextIfExists(path, maxFileBytes)
      if (text !== undefined) outbox.#load(parseJson(text))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== undefined) {
        outbox.#path = undefined
        options.log.warn(
          { file: path, reason: code },
          `cannot read the notifications that wait (${code}); new ones are not stored until the service is restarted`,
        )
        return outbox
      }
      await rename(path, `${path}.unreadable`).catch(() => {})
      options.log.warn(
        { file: path, reason: (error as Error).message },
        'cannot use the file of a notification channel; it has been renamed to end in .unreadable',
      )
    }
    return outbox
  }

  #load(contents: unknown): void {
    if (!isRecord(contents) || !isRecord(contents.told) || !Array.isArray(contents.queue)) throw new Error('it has another form')
    for (const [server, told] of Object.entries(contents.told)) if (isTold(told)) this.#told.set(server, told)
    this.#queue = contents.queue.filter(isNotification).slice(0, maxQueued)
    this.#value = typeof contents.value === 'string' ? contents.value : undefined
  }

  get length(): number {
    return this.#queue.length
  }

  async told(server: string): Promise<Told | undefined> {
    return this.#told.get(server)
  }

  async commit(
    server: string,
    _before: Told | undefined,
    told: Told | undefined,
    notifications: readonly Notification[],
  ): Promise<boolean> {
    if (told === undefined) this.#told.delete(server)
    else this.#told.set(server, told)
    const room = maxQueued - this.#queue.length
    this.#queue.push(...notifications.slice(0, room))
    const overflow = Math.max(0, notifications.length - room)
    this.#overflow += overflow
    this.dropped += overflow
    void this.#changed()
    return true
  }

  async oldest(count: number): Promise<readonly Notification[]> {
    await this.#writing
    return this.#queue.slice(0, count)
  }

  async remove(notifications: readonly Notification[]): Promise<void> {
    const ids = new Set(notifications.map(({ id }) => id))
    this.#queue = this.#queue.filter(({ id }) => !ids.has(id))
    const count = this.#overflow
    this.#overflow = 0
    if (count > 0) this.#queue.push(describeDropped(count, this.#options.clock.wall()))
    await this.#changed()
  }

  async isSender(): Promise<boolean> {
    return true
  }

  async value(): Promise<string | undefined> {
    return this.#value
  }

  async setValue(value: string): Promise<void> {
    this.#value = value
    await this.#changed()
  }

  async close(): Promise<void> {
    await (this.#isFailing ? this.#changed() : this.#writing)
  }

  /** Writes everything up to now. Changes during a write are written together after it. Never rejects. */
  #changed(): Promise<void> {
    this.#isDirty = true
    this.#writing ??= this.#write()
    return this.#writing
  }

  async #write(): Promise<void> {
    const { log } = this.#options
    const path = this.#path
    // In a later microtask, so that the changes of all servers are written together.
    await Promise.resolve()
    while (this.#isDirty && path !== undefined) {
      this.#isDirty = false
      const contents = { told: Object.fromEntries(this.#told), queue: this.#queue, value: this.#value }
      try {
        await writeAtomic(path, JSON.stringify(contents), { mode: 0o600 })
        if (this.#isFailing) log.info({ file: path }, 'the notifications can be stored again')
        this.#isFailing = false
      } catch (error) {
        const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
        if (!this.#isFailing)
          log.warn(
            { file: path, reason },
            `cannot store the notifications (${reason}); until that succeeds, they are lost if the service stops`,
          )
        this.#isFailing = true
      }
    }
    this.#writing = undefined
  }
}
