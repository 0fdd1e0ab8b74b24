import type { Fleet } from '../game/fleet.ts'
import { stateOf } from '../live/state.ts'
import { backoffMs } from '../util/backoff.ts'
import type { Clock } from '../util/clock.ts'
import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'
import type { Log } from '../util/log.ts'
import type { MaintenanceOf } from '../util/part-metrics.ts'
import { type ChannelContext, DeliveryError, jsonHeaders } from './channels/channel.ts'
import type { Outbox } from './outbox.ts'
import type { ChannelSettings } from './settings.ts'
import { type ServerDetails, type Shown, statusEmbeds } from './status-embeds.ts'

export interface StatusMessageOptions {
  readonly settings: Pick<ChannelSettings, 'name' | 'values'>
  readonly isAbout: (server: string, group: string | undefined) => boolean
  readonly outbox: Outbox
  readonly context: ChannelContext
  readonly fleet: Fleet
  readonly maintenanceOf: MaintenanceOf
  readonly detailsOf: (server: string) => Promise<ServerDetails>
  readonly clock: Clock
  readonly log: Log
}

const minEditMs = 15_000
/** Time in which the servers that are polled at once are collected, milliseconds. */
const collectMs = 1_000

const isId = (value: unknown): value is string => typeof value === 'string' && /^\d{1,30}$/.test(value)
const idOf = (reply: unknown): string | undefined => (isRecord(reply) && isId(reply.id) ? reply.id : undefined)

/** A message of a Discord webhook that shows the state of all servers, and is edited when that changes. */
export class StatusMessage {
  /** Why the last edit failed; undefined if it did not. */
  problem: string | undefined
  readonly #options: StatusMessageOptions
  readonly #unsubscribe: () => void
  #cancel: (() => void) | undefined
  #editing: Promise<void> | undefined
  #last = ''
  #failures = 0
  /** Monotonic milliseconds before which it is not edited. */
  #notBefore = 0
  #isClosed = false

  constructor(options: StatusMessageOptions) {
    this.#options = options
    this.#unsubscribe = options.fleet.subscribe(() => this.#schedule())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe()
    this.#cancel?.()
    await this.#editing
  }

  #schedule(): void {
    if (this.#cancel !== undefined || this.#editing !== undefined || this.#isClosed) return
    const { clock } = this.#options
    this.#cancel = clock.after(Math.max(collectMs, this.#notBefore - clock.now()), () => {
      this.#cancel = undefined
      this.#editing = this.#edit().finally(() => {
        this.#editing = undefined
      })
    })
  }

  /** Never rejects. */
  async #edit(): Promise<void> {
    const { clock, log, settings, outbox } = this.#options
    try {
      if (!(await outbox.isSender())) {
        // Another replica edits the message now: what this one knows of it is outdated.
        this.#last = ''
        this.problem = undefined
        return
      }
      const body = await this.#body()
      if (body === this.#last) return
      this.#notBefore = clock.now() + minEditMs
      await this.#send(body)
      this.#last = body
      this.#failures = 0
      this.problem = undefined
    } catch (error) {
      const { message, retryAfterMs = 0 } = error as DeliveryError
      if (this.problem === undefined)
        log.warn({ channel: settings.name }, `${settings.name}: the status message cannot be edited (${message})`)
      this.problem = message
      this.#failures++
      this.#notBefore = clock.now() + Math.max(retryAfterMs, backoffMs(this.#failures, { firstMs: minEditMs, maxMs: 300_000 }))
    }
  }

  async #body(): Promise<string> {
    const { fleet, isAbout, maintenanceOf, detailsOf } = this.#options
    const servers = fleet.watchers.flatMap((watcher): Shown[] => {
      const { server: name } = watcher
      const group = fleet.settingsOf(name)?.group
      return isAbout(name, group) ? [{ name, group, state: stateOf(watcher.snapshot(), maintenanceOf(name)) }] : []
    })
    return JSON.stringify({ content: '', embeds: await statusEmbeds(servers, detailsOf), allowed_mentions: { parse: [] } })
  }

  /** Edits the message, or creates it if there is none or it was deleted. */
  async #send(body: string): Promise<void> {
    const { outbox, context, settings } = this.#options
    const url = new URL(settings.values.url ?? '')
    const id = await outbox.value()
    if (isId(id)) {
      const message = new URL(url)
      message.pathname = `${url.pathname.replace(/\/$/, '')}/messages/${id}`
      try {
        await context.request({ method: 'PATCH', url: message, headers: jsonHeaders, body })
        return
      } catch (error) {
        if ((error as DeliveryError).status !== 404) throw error
      }
    }
    url.searchParams.set('wait', 'true')
    const reply = await context.request({ method: 'POST', url, headers: jsonHeaders, body })
    const created = idOf(parseJson(reply.body.toString()))
    // Otherwise every edit would create another message.
    if (created === undefined) throw new DeliveryError('the reply has no id of the message')
    await outbox.setValue(created)
  }
}
