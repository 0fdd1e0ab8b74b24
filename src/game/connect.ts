import type { LookupAddress } from 'node:dns'
import net from 'node:net'
import type { AbortSignalLike } from '../util/abortable.ts'
import { systemClock } from '../util/clock.ts'
import { raceAddresses } from './names/race-addresses.ts'

export interface ConnectOptions {
  /**
   * The caller reads the socket only by `data` events and uses each chunk only during its event, so that all such sockets may read
   * into one buffer.
   */
  readonly usesChunksAtOnce?: true
}

/** Maximum number of addresses to which one connection is tried. */
const maxAddresses = 16
/** As many bytes as a socket reads at once without `onread`. */
const sharedBuffer = Buffer.allocUnsafeSlow(65_536)

/**
 * Connects by TCP to the first of the addresses that accepts. Not by `autoSelectFamily` of Node.js, which gives up every attempt but the
 * last one after 250 ms: a server that takes longer would not be reached if the last address is one to which this machine has no route.
 * The caller destroys the socket.
 * @param signal aborts the attempt with its reason
 * @throws the system error, of several addresses that of one which has refused, else of the first
 */
export async function connect(
  addresses: readonly LookupAddress[],
  port: number,
  signal: AbortSignalLike,
  options?: ConnectOptions,
): Promise<net.Socket> {
  signal.throwIfAborted()
  const [first] = addresses
  if (first === undefined) throw Object.assign(new Error('it has no addresses'), { code: 'ENOTFOUND' })
  const attempt = ({ address }: LookupAddress, own: AbortSignalLike) => connectTo(address, port, own, options)
  if (addresses.length === 1) return attempt(first, signal)
  return (await raceAddresses(alternating(addresses).slice(0, maxAddresses), attempt, signal, systemClock)).reply
}

/** Alternates between both families, the first one first: the route of one of them may be broken. */
function alternating(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  const isFirstFamily = ({ family }: LookupAddress) => family === addresses[0]?.family
  const [some, others] = [addresses.filter(isFirstFamily), addresses.filter((one) => !isFirstFamily(one))]
  return [...some.flatMap((one, index) => [one, ...others.slice(index, index + 1)]), ...others.slice(some.length)]
}

function connectTo(
  address: string,
  port: number,
  signal: AbortSignalLike,
  options: ConnectOptions | undefined,
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    // Otherwise every read of every poll allocates 64 KiB (`npm run bench -- fleet`).
    const onread = options?.usesChunksAtOnce && {
      buffer: sharedBuffer,
      callback(length: number) {
        socket.emit('data', sharedBuffer.subarray(0, length))
        return true
      },
    }
    const socket = net.connect({ host: address, port, onread })
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', abort)
      socket.off('error', fail)
      // An error before the caller listens would end the process. The socket closes after it.
      socket.on('error', () => {})
      settle()
    }
    const fail = (error: unknown) => end(() => reject(error))
    const abort = () => {
      socket.destroy()
      fail(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', fail)
    socket.once('connect', () => end(() => resolve(socket)))
  })
}
