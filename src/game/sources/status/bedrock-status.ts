import type { Fields } from '../../fields.ts'

type Read = (signal: AbortSignal) => Promise<Partial<Fields>>
export type Transport = 'raknet' | 'nethernet'

/**
 * Reads a Bedrock server by whichever transport it speaks: both at once until one has answered, then that one, and both again once it
 * fails. The first answer counts, and the other attempt is aborted.
 */
export function createBedrockReader(readers: Readonly<Record<Transport, Read>>): Read {
  let answered: Transport | undefined

  async function readAny(transports: readonly Transport[], signal: AbortSignal): Promise<Partial<Fields>> {
    const attempts = transports.map((transport) => ({ transport, controller: new AbortController() }))
    const abort = () => {
      for (const { controller } of attempts) controller.abort(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      return await Promise.any(
        attempts.map(async ({ transport, controller }) => {
          const fields = await readers[transport](controller.signal)
          answered = transport
          return fields
        }),
      )
    } catch (error) {
      if (signal.aborted) throw signal.reason
      // The failure of RakNet, which most servers speak, says more than that of a port at which no NetherNet was expected.
      throw error instanceof AggregateError ? error.errors[0] : error
    } finally {
      signal.removeEventListener('abort', abort)
      for (const { controller } of attempts) controller.abort()
    }
  }

  return async (signal) => {
    const before = answered
    if (before === undefined) return await readAny(['raknet', 'nethernet'], signal)
    try {
      return await readers[before](signal)
    } catch (error) {
      answered = undefined
      if (signal.aborted) throw error
      // The server may have been restarted with the other transport.
      return await readAny([before === 'raknet' ? 'nethernet' : 'raknet'], signal).catch(() => {
        throw error
      })
    }
  }
}
