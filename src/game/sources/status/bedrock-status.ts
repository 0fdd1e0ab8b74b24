import { type AbortSignalLike, withOwnSignal } from '../../../util/abortable.ts'
import { SourceError, type SourceErrorCode, toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'

type Read = (signal: AbortSignalLike) => Promise<Partial<Fields>>
export type Transport = 'raknet' | 'nethernet'
type Failures = ReadonlyMap<Transport, SourceError>

const titles = { raknet: 'RakNet (UDP)', nethernet: 'NetherNet (TCP)' } as const
const transports = Object.keys(titles) as readonly Transport[]

/**
 * Reads a Bedrock server by the transport that it supports. Both are tried concurrently until one replies, then only that one until it
 * fails. The first reply wins and aborts the other attempt.
 * @param target `host:port`, for messages
 * @returns a function that throws one SourceError for both transports
 */
export function createBedrockReader(target: string, readers: Readonly<Record<Transport, Read>>): Read {
  let current: Transport | undefined

  async function readAny(tried: readonly Transport[], before: Failures, signal: AbortSignalLike): Promise<Partial<Fields>> {
    const failures = new Map(before)
    const read = async (transport: Transport, own: AbortSignal): Promise<Partial<Fields>> => {
      try {
        const fields = await readers[transport](own)
        current = transport
        return fields
      } catch (error) {
        failures.set(transport, toSourceError(error, target))
        throw error
      }
    }
    try {
      return await withOwnSignal(signal, (own) => Promise.any(tried.map((transport) => read(transport, own.signal))))
    } catch {
      throw combine(target, failures)
    }
  }

  return async (signal) => {
    const before = current
    if (before === undefined) return await readAny(transports, new Map(), signal)
    try {
      return await readers[before](signal)
    } catch (error) {
      current = undefined
      if (signal.aborted) throw error
      // After a restart, the server may use the other transport.
      const others = transports.filter((transport) => transport !== before)
      return await readAny(others, new Map([[before, toSourceError(error, target)]]), signal)
    }
  }
}

/** The server cannot be reached by a transport. An unsupported RakNet is one that a proxy does not forward. */
const unreachable: readonly SourceErrorCode[] = ['refused', 'unreachable', 'dns', 'unsupported']

/**
 * Combines the errors of both transports. The code is `timeout` if one of them timed out, otherwise that of the transport by which the
 * server has replied; without a reply, that of RakNet, which most servers use, unless RakNet is not supported.
 */
function combine(target: string, failures: Failures): SourceError {
  const errors = transports.flatMap((transport) => failures.get(transport) ?? [])
  const aborted = errors.find(({ code }) => code === 'aborted')
  if (aborted !== undefined) return aborted
  const isOtherServer = failures.get('nethernet')?.code === 'unsupported'
  const codes = [
    errors.find((error) => error.code === 'timeout')?.code,
    errors.find((error) => !unreachable.includes(error.code))?.code,
    isOtherServer ? 'malformed' : errors.find((error) => error.code !== 'unsupported')?.code,
  ]
  const code = codes.find((code) => code !== undefined) ?? 'internal'
  const parts = transports.flatMap((transport) => {
    const error = failures.get(transport)
    return error === undefined ? [] : [`${titles[transport]}: ${error.message.replace(`${target}: `, '')}`]
  })
  return new SourceError(code, `${target}: no reply by either transport; ${parts.join('; ')}`, { cause: errors[0] })
}
