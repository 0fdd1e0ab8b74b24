import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from './test-end.ts'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly json: any
}

/** How the receiver answers a request; undefined: 204. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => void

export interface NotifyReceiver {
  readonly url: string
  /** Every attempt, in order. */
  readonly requests: ReceivedRequest[]
  /** Those that were accepted. */
  readonly accepted: ReceivedRequest[]
  /** Answers to the next requests, each used once. */
  readonly answers: Answer[]
}

/** A local HTTP service that records what it receives, until the test ends. */
export async function startReceiver(accept: Answer = (response) => response.writeHead(204).end()): Promise<NotifyReceiver> {
  const requests: ReceivedRequest[] = []
  const accepted: ReceivedRequest[] = []
  const answers: Answer[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const received = {
      ...{ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body },
      get json() {
        return JSON.parse(body)
      },
    }
    requests.push(received)
    const answer = answers.shift()
    if (answer === undefined) accepted.push(received)
    ;(answer ?? accept)(response, received)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests, accepted, answers }
}

/** Twelve ways in which a receiver fails for a while. */
export const failures: readonly Answer[] = [
  (response) => response.destroy(),
  (response) => response.writeHead(500).end(),
  (response) => response.writeHead(502).end('<html>bad gateway</html>'),
  (response) => response.writeHead(503, { 'retry-after': '1' }).end(),
  (response) => response.writeHead(504).end(),
  (response) => response.writeHead(408).end(),
  (response) => response.writeHead(429, { 'retry-after': '0.2' }).end(),
  (response) =>
    response.writeHead(429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '0.3' }).end('{"retry_after":0.3}'),
  (response) => response.writeHead(429, { 'retry-after': new Date(Date.now() + 1_000).toUTCString() }).end(),
  (response) => void response.socket?.end('HTTP/1.1 200 O'),
  (response) => void response.socket?.end('not HTTP\r\n\r\n'),
  (response) => response.writeHead(599).end('x'.repeat(1_000_000)),
]
