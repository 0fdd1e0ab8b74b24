// The minimum cost of polling: the same servers at the same interval, with nothing but sockets of Node.js. It connects, sends the
// handshake and the requests, reads the status and the pong, and closes; nothing is decoded or recorded.
import { once } from 'node:events'
import net from 'node:net'
import { encodePing } from '../../dist/src/game/protocol/status/status.js'
import { encodeHello } from '../../dist/src/game/sources/status/java-ping.js'

const [{ servers, interval }] = await once(process, 'message')
const ping = encodePing(1n)
const pongBytes = 10
let polls = 0

function poll({ host, port, hello }) {
  const socket = net.connect({ host, port })
  let missing
  let isPinged = false
  socket.on('connect', () => socket.write(hello, 'latin1'))
  socket.on('data', (chunk) => {
    missing = (missing ?? frameBytes(chunk)) - chunk.length
    if (missing > 0) return
    if (isPinged) {
      polls++
      socket.destroy()
    } else {
      isPinged = true
      missing = pongBytes
      socket.write(ping)
    }
  })
  socket.on('error', () => socket.destroy())
}

/** Bytes of the first frame with its length, which is a VarInt. */
function frameBytes(chunk) {
  let [value, at] = [0, 0]
  for (;;) {
    const byte = chunk[at]
    value |= (byte & 127) << (7 * at++)
    if (byte < 128) return value + at
  }
}

const targets = servers.map(({ sources: { status } }) => {
  const { host, port } = status.address
  return { host, port, hello: encodeHello(host, port) }
})
const begun = performance.now()
let started = 0
setInterval(() => {
  const due = ((performance.now() - begun) / interval) * targets.length
  while (started < due) poll(targets[started++ % targets.length])
}, 5)

let [cpu, since] = [process.cpuUsage(), performance.now()]
process.on('message', () => {
  const { user, system } = process.cpuUsage(cpu)
  process.send({ cpuSeconds: (user + system) / 1e6, polls, seconds: (performance.now() - since) / 1_000 })
  cpu = process.cpuUsage()
  since = performance.now()
  polls = 0
})
process.on('disconnect', () => process.exit())
process.send('ready')
