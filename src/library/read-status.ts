import { parseDuration, serverAddress } from '../config/kinds.ts'
import { settings } from '../config/settings.ts'
import { SourceError, toSourceError } from '../game/errors.ts'
import type { Fields } from '../game/fields.ts'
import { status } from '../game/sources/status/index.ts'
import { silentLog } from '../log.ts'
import { libraryClock as clock } from './clock.ts'

export interface ReadStatusOptions {
  /** Milliseconds for everything, resolving the name included: more than 0, up to 2147483647; default 3000. */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** What the server says of itself to anyone. A field that it does not send is absent. */
export type ServerStatus = Readonly<Partial<Fields>>

/** The longest delay of a timer in Node.js. */
const maxTimeoutMs = 2 ** 31 - 1

/**
 * Reads the status of a Minecraft server once: by the Server List Ping of Java servers, by RakNet or NetherNet of Bedrock ones.
 * @param address `host`, `host:port` (without a port by its SRV record, then 25565) or `bedrock://host:port`
 * @throws TypeError where an argument does not fit
 * @throws SourceError where the server could not be read, `timeout` at the deadline
 * @throws the signal's reason once that is aborted
 */
export async function readStatus(address: string, { timeout, signal }: ReadStatusOptions = {}): Promise<ServerStatus> {
  const parsed = typeof address === 'string' ? serverAddress.parse(address) : undefined
  if (parsed === undefined) throw new TypeError(`address is ${JSON.stringify(address)}; expected ${serverAddress.expected}`)
  const timeoutMs = timeout ?? parseDuration(settings.pollTimeout.default) ?? 0
  if (!(timeoutMs > 0 && timeoutMs <= maxTimeoutMs))
    throw new TypeError(`timeout is ${timeoutMs}; expected milliseconds, more than 0 and up to ${maxTimeoutMs}`)
  signal?.throwIfAborted()

  const source = status.create({ address: parsed }, { clock, log: silentLog, random: Math.random, push() {} })
  const controller = new AbortController()
  const cancelTimeout = clock.after(timeoutMs, () => {
    controller.abort(new SourceError('timeout', `${source.target}: no answer within ${timeoutMs} ms`))
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
