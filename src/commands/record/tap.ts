import type { Socket } from 'node:net'
import type { Network } from '../../game/network.ts'

/** The bytes of one connection. */
export interface Tapped {
  readonly sent: Buffer[]
  readonly received: Buffer[]
}

/** Wraps a network: copies all bytes of its connections. */
export function tapNetwork(network: Network): { readonly network: Network; readonly connections: readonly Tapped[] } {
  const connections: Tapped[] = []

  async function connect(...[addresses, port, signal]: Parameters<Network['connect']>): Promise<Socket> {
    // Without options: all chunks must go through push().
    const socket = await network.connect(addresses, port, signal)
    const tapped: Tapped = { sent: [], received: [] }
    connections.push(tapped)
    const { push } = socket
    // Intercepts push(), because a `data` listener would switch the stream to flowing mode too early.
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk instanceof Uint8Array) tapped.received.push(Buffer.from(chunk))
      return push.call(socket, chunk, encoding)
    }
    const write = socket.write.bind(socket)
    socket.write = ((chunk: Uint8Array | string, ...rest: []) => {
      tapped.sent.push(Buffer.from(chunk as Uint8Array))
      return write(chunk, ...rest)
    }) as Socket['write']
    return socket
  }

  return { network: { ...network, connect }, connections }
}
