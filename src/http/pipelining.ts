import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of requests of one connection that wait for the reply to an earlier one. */
const maxWaiting = 100

/**
 * Creates a check that limits pipelined requests. Node.js parses everything that it has received, about a thousand requests at
 * once, so a client that sends many and reads nothing would fill the memory with replies. Usual clients do not pipeline.
 * @returns a function that returns whether to answer a request; it closes the connection of a client with too many
 */
export function createPipelineCheck(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const waiting = new WeakMap<Socket, number>()
  return ({ socket }, response) => {
    // The client has disconnected, or its connection has been refused.
    if (socket.destroyed || socket.writableEnded) return false
    // It has the socket once all earlier replies have been written.
    if (response.socket !== null) return true
    const count = (waiting.get(socket) ?? 0) + 1
    if (count > maxWaiting) {
      socket.destroy()
      return false
    }
    waiting.set(socket, count)
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    return true
  }
}
