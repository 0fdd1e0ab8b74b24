import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { record } from './results.ts'

interface Usage {
  readonly cpu: NodeJS.CpuUsage
  readonly memory: number
}

interface Client {
  readonly socket: Socket
  events: number
}

const marker = Buffer.from('event: ')

/** A client that only counts bytes, so that the clients use little CPU. */
async function follow(port: number, count: () => void): Promise<Client> {
  const socket = connect(port, '127.0.0.1')
  const client: Client = { socket, events: 0 }
  socket.on('data', (bytes) => {
    for (let at = bytes.indexOf(marker); at !== -1; at = bytes.indexOf(marker, at + 1)) {
      client.events++
      count()
    }
  })
  await once(socket, 'connect')
  socket.write('GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n')
  return client
}

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

/**
 * 1,000 event clients of one process: its CPU and memory, compared to a bare server that writes the same bytes to as many
 * clients.
 */
export async function run({ quick = false }: { readonly quick?: boolean } = {}): Promise<void> {
  const [clientCount, eventCount] = quick ? [50, 20] : [1_000, 200]
  const child = fork(fileURLToPath(new URL('events/server.mjs', import.meta.url)))
  // Else the bench would wait for its messages until the time limit.
  child.once('exit', (code) => {
    if (code !== 0) throw new Error(`the server of events has ended with code ${code}`)
  })
  try {
    const [ports] = (await once(child, 'message')) as [{ live: number; bare: number }]
    const usage = async (): Promise<Usage> => {
      child.send({ kind: 'usage' })
      return (await once(child, 'message'))[0] as Usage
    }
    const results = new Map<string, number>()
    for (const kind of ['bare', 'live'] as const) {
      const idle = await usage()
      let received = 0
      let arrived = () => {}
      const clients: Client[] = []
      const all = async (total: number) => {
        while (received < total) await new Promise<void>((resolve) => (arrived = resolve))
      }
      for (let index = 0; index < clientCount; index++) {
        clients.push(
          await follow(ports[kind], () => {
            received++
            arrived()
          }),
        )
      }
      // Wait until each client has received its first state.
      await all(clientCount)
      const before = await usage()
      const started = performance.now()
      for (let event = 1; event <= eventCount; event++) {
        child.send({ kind })
        await all(clientCount * (event + 1))
      }
      const elapsed = performance.now() - started
      const after = await usage()
      if (clients.some(({ events }) => events !== eventCount + 1)) throw new Error('a client did not receive every event')
      const cpu = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system
      results.set(kind, cpu / eventCount)
      console.log(
        `${kind.padEnd(5)}${clientCount} clients, ${eventCount} events: ${(cpu / eventCount / 1000).toFixed(2)} ms CPU and ${(elapsed / eventCount).toFixed(1)} ms per event, ` +
          `${(cpu / eventCount / clientCount).toFixed(2)} µs CPU per client; ${mebibytes(after.memory - idle.memory)} more memory`,
      )
      for (const { socket } of clients) socket.destroy()
    }
    record('CPU per event, ours / bare server', (results.get('live') ?? 0) / (results.get('bare') ?? 1), 'ratio')
    record('CPU per event and client', (results.get('live') ?? 0) / clientCount, 'µs CPU')
    console.log(`events / bare server: ${((results.get('live') ?? 0) / (results.get('bare') ?? 1)).toFixed(2)} CPU per event`)
  } finally {
    child.disconnect()
  }
}
