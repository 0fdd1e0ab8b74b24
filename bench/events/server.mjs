// Serves events with the built service, and the same messages from a bare server. It publishes what its parent process sends.
import { createServer } from 'node:http'
import { systemClock } from '../../dist/src/clock.js'
import { createHttpApp } from '../../dist/src/http/app.js'
import { createEventHub } from '../../dist/src/live/hub.js'
import { registerLive } from '../../dist/src/live/register.js'

const silent = () => {}
const logger = { level: 'silent', info: silent, warn: silent, error: silent, fatal: silent, debug: silent, trace: silent, silent }
logger.child = () => logger

let listener = silent
let round = 0
const field = (value) => ({ value, source: 'status', at: systemClock.now() })
function snapshot() {
  round++
  const at = systemClock.now()
  const fields = {
    playersOnline: field(round),
    latency: field(round / 1e6),
    tickRate: field(20),
    motd: field('A Minecraft server'),
  }
  return { server: 'Server', at, up: true, fields, sources: [], polls: {}, lastContact: { at, wall: systemClock.wall() } }
}
const watcher = { server: 'Server', settings: { staleAfter: 15_000 }, snapshot }
const fleet = {
  servers: [{ name: 'Server' }],
  watchers: [watcher],
  get: () => watcher,
  subscribe(given) {
    listener = given
    return silent
  },
  onChange: () => silent,
}
const app = createHttpApp({ logger, corsOrigin: '*' })
registerLive(app, { fleet, hub: createEventHub(fleet, systemClock, 10_000) })
const live = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))

const replies = new Set()
const bare = createServer((_, reply) => {
  reply.writeHead(200, { 'content-type': 'text/event-stream' })
  reply.write('id: 0\nevent: snapshot\ndata: {}\n\n')
  replies.add(reply)
  reply.on('close', () => replies.delete(reply))
})
await new Promise((resolve) => bare.listen(0, '127.0.0.1', resolve))

const publish = {
  live: () => listener(snapshot()),
  bare() {
    const at = Date.now()
    const data = JSON.stringify({ server: 'Server', at, online: ++round, latency: round / 1e3 })
    const message = Buffer.from(`id: ${at * 1000 + round}\nevent: change\ndata: ${data}\n\n`)
    for (const reply of replies) reply.write(message)
  },
}

process.on('message', ({ kind }) => {
  if (kind === 'usage') process.send({ cpu: process.cpuUsage(), memory: process.memoryUsage().rss })
  else publish[kind]()
})
process.on('disconnect', () => process.exit())
process.send({ live: live.port, bare: bare.address().port })
