import { setTimeout as delay } from 'node:timers/promises'
import { SourceError, type SourceErrorCode } from '../../game/errors.ts'
import type { Fields } from '../../game/fields.ts'
import type { ServerSnapshot, SourceState } from '../../game/snapshot.ts'
import { type StatusSettings, status } from '../../game/sources/status/index.ts'
import { libraryClock as clock } from '../../library/clock.ts'
import { readFields } from '../../library/read-status.ts'
import { bedrockScheme, formatHostPort, parseServerAddress, type ServerAddress } from '../../util/address.ts'
import { toSeconds } from '../../util/clock.ts'

const javaScheme = 'java://'
/** Milliseconds after which a Java server that has not replied is also tried as a Bedrock server. */
const bedrockDelayMs = 300
/** Milliseconds that a Java server has to reply after a Bedrock server has: on one host, Java is preferred. */
const graceMs = 500

/** An address to look at: the editions to try, best first. */
export interface Target {
  /** As given. */
  readonly text: string
  readonly addresses: readonly [ServerAddress, ...ServerAddress[]]
}

/** Parses an address; undefined if it is not valid. */
export function parseTarget(text: string): Target | undefined {
  const isJava = text.startsWith(javaScheme)
  const address = parseServerAddress(isJava ? text.slice(javaScheme.length) : text)
  if (address === undefined || (isJava && address.edition === 'bedrock')) return undefined
  if (isJava || text.startsWith(bedrockScheme)) return { text, addresses: [address] }
  const bedrock = parseServerAddress(`${bedrockScheme}${text.trim()}`)
  return bedrock === undefined ? undefined : { text, addresses: [address, bedrock] }
}

/** The result of one attempt to read a server. */
export interface Look {
  readonly target: Target
  /** The address of the edition that has replied; the first one if none has. */
  readonly address: ServerAddress
  readonly snapshot: ServerSnapshot
  /** Why the server is down; absent if it is up. */
  readonly failure?: { readonly code: SourceErrorCode | 'not_ready'; readonly message: string }
}

/** Ends early when the signal is aborted. */
const wait = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal }).catch(() => {})

interface Read {
  readonly address: ServerAddress
  readonly fields: Partial<Fields>
}

/** Reads a server whose edition is not known. @throws SourceError that of the Java edition */
async function readEither(
  [java, bedrock]: readonly ServerAddress[],
  read: (address: ServerAddress, signal: AbortSignal) => Promise<Read>,
): Promise<Read> {
  if (java === undefined) throw new RangeError('no address')
  const own = new AbortController()
  const first = read(java, own.signal)
  if (bedrock === undefined) return await first
  const failed = new AbortController()
  first.catch(() => failed.abort())
  const hurry = AbortSignal.any([own.signal, failed.signal])
  const readBedrock = async () => {
    await wait(bedrockDelayMs, hurry)
    const found = await read(bedrock, own.signal)
    await wait(graceMs, hurry)
    return found
  }
  try {
    return await Promise.any([first, readBedrock()])
  } catch {
    return await first
  } finally {
    own.abort()
  }
}

const hintFor = ({ code, progress, hint }: SourceError): string | undefined =>
  hint ?? (progress && status.timeoutHints?.[progress]) ?? status.hints[code]

/** The state of the only source that was polled. */
function stateOf(address: ServerAddress, started: number, error?: SourceError): SourceState {
  const duration = toSeconds(clock.now() - started)
  const common = { source: 'status', target: formatHostPort(address), duration } as const
  if (error === undefined) return { ...common, state: 'ok', lastSuccess: clock.wall() }
  const { code } = error
  const hint = hintFor(error)
  const message = hint === undefined ? error.message : `${error.message}; ${hint}`
  return { ...common, state: 'failed', error: { code, message }, lastError: { code, message, at: clock.wall() } }
}

function snapshotOf(name: string, state: SourceState, fields: Partial<Fields>): ServerSnapshot {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  return {
    server: name,
    at: clock.now(),
    up: state.state === 'ok',
    lastPollAt: clock.wall(),
    pollDuration: state.duration ?? 0,
    fields: Object.fromEntries(known.map(([key, value]) => [key, { value, source: 'status' }])),
    sources: [state],
    polls: { [state.error?.code ?? 'ok']: 1 },
  }
}

export interface LookOptions extends Omit<StatusSettings, 'address'> {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Reads the status of a server once: of the Java edition, of old versions, or of the Bedrock edition by either transport.
 * @throws the reason of the signal if it is aborted; a server that is down is no error
 */
export async function look(target: Target, { timeoutMs, signal, ...options }: LookOptions): Promise<Look> {
  const [first] = target.addresses
  const deadline = clock.now() + timeoutMs
  const started = clock.now()
  try {
    const { address, fields } = await readEither(target.addresses, async (address, own) => {
      const settings = address.edition === 'java' ? { ...options, address } : { address }
      // The deadline is that of the whole attempt.
      const remainingMs = Math.max(1, deadline - clock.now())
      return { address, fields: await readFields(settings, remainingMs, AbortSignal.any([signal, own]), { isProbe: true }) }
    })
    return { target, address, snapshot: snapshotOf(target.text, stateOf(address, started), fields) }
  } catch (error) {
    signal.throwIfAborted()
    const state = stateOf(first, started, error instanceof SourceError ? error : new SourceError('internal', String(error)))
    return {
      target,
      address: first,
      snapshot: snapshotOf(target.text, state, {}),
      ...(state.error && { failure: state.error }),
    }
  }
}

/** The same look, down if players cannot join yet: servers that start send no players, or 0 slots. */
export function requireReady(result: Look): Look {
  if (result.failure !== undefined) return result
  const { playersMax, asleep } = result.snapshot.fields
  const { snapshot } = result
  if (playersMax !== undefined && playersMax.value !== 0 && asleep?.value !== true && snapshot.mainThread?.responsive !== false)
    return result
  const message = `${formatHostPort(result.address)}: not ready, players cannot join yet`
  return { ...result, snapshot: { ...snapshot, up: false }, failure: { code: 'not_ready', message } }
}
