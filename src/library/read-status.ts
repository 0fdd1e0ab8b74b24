import { SourceError, toSourceError } from '../game/errors.ts'
import type { Fields } from '../game/fields.ts'
import { poll } from '../game/poll-settings.ts'
import type { SourceContext } from '../game/sources/source.ts'
import { type StatusSettings, status } from '../game/sources/status/index.ts'
import { parseDuration, serverAddress } from '../settings/kinds/index.ts'
import { maxTimerMs } from '../util/clock.ts'
import { silentLog } from '../util/log.ts'
import { libraryClock as clock } from './clock.ts'

export interface ReadStatusOptions {
  /** Milliseconds for the whole operation, including name resolution: more than 0, at most 2147483647; default 3000. */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** The public status of a server. A field that the server does not send is absent. */
export type ServerStatus = Readonly<Partial<Fields>>

/**
 * Reads the status of a Minecraft server once, using Server List Ping for Java servers and RakNet or NetherNet for Bedrock servers.
 * @param address `host`, `host:port` or `bedrock://host:port`; without a port, the SRV record is used, then port 25565
 * @throws TypeError if an argument is not valid
 * @throws SourceError if the server could not be read; `timeout` at the deadline
 * @throws the reason of the signal if it is aborted
 */
export async function readStatus(address: string, options: ReadStatusOptions = {}): Promise<ServerStatus> {
  const { timeout, signal, ...others } = options
  const [unknown] = Object.entries(others).find(([, value]) => value !== undefined) ?? []
  if (unknown !== undefined) throw new TypeError(`${unknown} is not an option; expected timeout or signal`)
  const parsed = typeof address === 'string' ? serverAddress.parse(address) : undefined
  if (parsed === undefined) throw new TypeError(`address is ${JSON.stringify(address)}; expected ${serverAddress.expected}`)
  const timeoutMs = timeout ?? parseDuration(poll.timeout.default) ?? 0
  if (!(timeoutMs > 0 && timeoutMs <= maxTimerMs))
    throw new TypeError(`timeout is ${timeoutMs}; expected milliseconds, more than 0 and at most ${maxTimerMs}`)
  return await readFields({ address: parsed }, timeoutMs, signal)
}

/**
 * Reads the status of one server once.
 * @param context replaces parts of the default
 * @throws as readStatus(), except for TypeError
 */
export async function readFields(
  settings: StatusSettings,
  timeoutMs: number,
  signal?: AbortSignal,
  context: Partial<SourceContext> = {},
): Promise<ServerStatus> {
  signal?.throwIfAborted()
  const source = status.create(settings, { clock, log: silentLog, random: Math.random, push() {}, ...context })
  const controller = new AbortController()
  const cancelTimeout = clock.after(timeoutMs, () => {
    controller.abort(new SourceError('timeout', `${source.target}: no reply within ${Math.round(timeoutMs)} ms`))
  })
  const abort = () => controller.abort(new SourceError('aborted', `${source.target}: aborted`))
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const { fields } = await source.poll(controller.signal, clock.now() + timeoutMs)
    return fields
  } catch (error) {
    signal?.throwIfAborted()
    throw toSourceError(error, source.target)
  } finally {
    cancelTimeout()
    signal?.removeEventListener('abort', abort)
    source.close()
  }
}
