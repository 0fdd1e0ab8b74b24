import { SourceError, toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'

type Read = (signal: AbortSignal) => Promise<Partial<Fields>>
export type Transport = 'raknet' | 'nethernet'
type Failures = ReadonlyMap<Transport, SourceError>

const titles = { raknet: 'RakNet (UDP)', nethernet: 'NetherNet (TCP)' } as const
const transports = Object.keys(titles) as readonly Transport[]

/**
 * Reads a Bedrock server by whichever transport it speaks: both at once until one has answered, then that one, and both again once it
 * fails. The first answer counts, and the other attempt is aborted.
 * @param target `host:port`, for messages
 * @throws SourceError from the function returned: one for both transports
 */
export function createBedrockReader(target: string, readers: Readonly<Record<Transport, Read>>): Read {
  let answered: Transport | undefined

  async function readAny(tried: readonly Transport[], before: Failures, signal: AbortSignal): Promise<Partial<Fields>> {
    const failures = new Map(before)
    const own = new AbortController()
    const abort = () => own.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      return await Promise.any(
        tried.map(async (transport) => {
          try {
            const fields = await readers[transport](own.signal)
            answered = transport
            return fields
          } catch (error) {
            failures.set(transport, toSourceError(error, target))
            throw error
          }
        }),
      )
    } catch {
      throw combine(target, failures)
    } finally {
      signal.removeEventListener('abort', abort)
      own.abort()
    }
  }

  return async (signal) => {
    const before = answered
    if (before === undefined) return await readAny(transports, new Map(), signal)
    try {
      return await readers[before](signal)
    } catch (error) {
      answered = undefined
      if (signal.aborted) throw error
      // The server may have been restarted with the other transport.
      const others = transports.filter((transport) => transport !== before)
      return await readAny(others, new Map([[before, toSourceError(error, target)]]), signal)
    }
  }
}

/**
 * What both transports failed with. Its code is `timeout` where either might have answered later, else that of RakNet, which most
 * servers speak, unless that cannot be tried: it says more than that of a port at which no NetherNet was expected.
 */
function combine(target: string, failures: Failures): SourceError {
  const errors = transports.flatMap((transport) => failures.get(transport) ?? [])
  const aborted = errors.find(({ code }) => code === 'aborted')
  if (aborted !== undefined) return aborted
  const late = errors.find((error) => error.code === 'timeout')
  const { code } = late ?? errors.find((error) => error.code !== 'unsupported') ?? errors[0] ?? { code: 'internal' }
  const parts = transports.flatMap((transport) => {
    const error = failures.get(transport)
    return error === undefined ? [] : [`${titles[transport]}: ${error.message.replace(`${target}: `, '')}`]
  })
  return new SourceError(code, `${target}: neither transport answers; ${parts.join('; ')}`, { cause: errors[0] })
}
