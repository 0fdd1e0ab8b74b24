import type { Socket } from 'node:net'
import { tooManyRequests } from '../../util/errors.ts'
import { problemMessage } from '../replies/problem.ts'
import { clientOf } from './client.ts'
import { clients } from './client-settings.ts'
import { createOpenCounts } from './open-counts.ts'

export interface ConnectionLimitOptions {
  /** Maximum number of connections of one client; default: no limit. */
  readonly maxConnections?: number
  /** Decides whether a peer is a proxy, whose connections are not limited: it forwards requests of many clients. */
  readonly isTrustedProxy?: (address: string | undefined) => boolean
}

/** Milliseconds until a refused connection is closed whose client does not close it. */
const lingerMs = 1_000
const retryAfterSeconds = 10

/**
 * Creates a listener for new connections that refuses those above the limit of their client: it answers 429 without reading a
 * request. Requests that arrive on such a connection must be ignored.
 */
export function createConnectionLimit({ maxConnections, isTrustedProxy }: ConnectionLimitOptions): (socket: Socket) => void {
  if (maxConnections === undefined) return () => {}
  const count = createOpenCounts(maxConnections)
  const { env } = clients.clientConnections
  const detail = `${maxConnections} connections of this client are open, which is the limit (${env}). If it is a reverse proxy, list it in TRUST_PROXY.`
  const refusal = problemMessage(tooManyRequests(detail, retryAfterSeconds))

  return (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || isTrustedProxy?.(remoteAddress)) return
    if (count(clientOf(remoteAddress), socket)) return
    // Not destroyed at once: a client that is sending its request would receive an error in place of the reply.
    socket.end(refusal)
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  }
}
