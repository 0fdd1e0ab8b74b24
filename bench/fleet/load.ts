import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Agent, request } from 'undici'

// Clients that produce load but are not measured: event clients and a Prometheus. A separate process.

export interface LoadOrder {
  readonly url: string
  readonly eventClients: number
  readonly servers: number
  /** Milliseconds from one scrape to the next. */
  readonly scrapeEveryMs: number
  readonly scrapes: number
}

export interface LoadResult {
  /** Milliseconds that each scrape took, in order. */
  readonly scrapes: readonly number[]
  readonly scrapeBytes: number
  readonly eventBytes: number
  readonly eventClients: number
}

process.on('disconnect', () => process.exit())
const [order] = (await once(process, 'message')) as [LoadOrder]
const { hostname, port } = new URL(order.url)
let eventBytes = 0
let clients = 0

/** Resolves when the client has been sent the state of every server. */
const firstStates = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const pattern = '\nevent: snapshot\n'
    let rest = ''
    let states = 0
    const count = (chunk: Buffer) => {
      const parts = (rest + chunk.toString('latin1')).split(pattern)
      rest = (parts.at(-1) ?? '').slice(-pattern.length)
      states += parts.length - 1
      if (states < order.servers) return
      socket.off('data', count)
      resolve()
    }
    socket.on('data', count)
  })

/** Of the client that connected last: the clients are sent their states in turns. */
let ready = Promise.resolve()
for (let count = 0; count < order.eventClients; count++) {
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  clients++
  socket.on('data', (chunk) => {
    eventBytes += chunk.length
  })
  if (count === order.eventClients - 1) ready = firstStates(socket)
  socket.on('error', () => {})
  socket.on('close', () => clients--)
  socket.write(`GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n`)
}
process.send?.('connected')
await ready
process.send?.('ready')
await once(process, 'message')

/** Scrapes like Prometheus: gzip, keep-alive. */
const agent = new Agent({ connections: 1 })
const headers = { 'accept-encoding': 'gzip', accept: 'text/plain;version=0.0.4' }
const scrapes: number[] = []
let scrapeBytes = 0
for (let round = 0; round < order.scrapes; round++) {
  await setTimeout(order.scrapeEveryMs)
  const begun = performance.now()
  const { body } = await request(`${order.url}/metrics`, { dispatcher: agent, headers })
  scrapeBytes = 0
  for await (const chunk of body) scrapeBytes += (chunk as Buffer).length
  scrapes.push(performance.now() - begun)
}
const result: LoadResult = { scrapes, scrapeBytes, eventBytes, eventClients: clients }
process.send?.(result)
