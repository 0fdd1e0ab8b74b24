// The whole service, as built, watching many servers. It measures what can only be measured in the process.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { buildApp } from '../../dist/src/app.js'
import { loadConfig } from '../../dist/src/config/config.js'
import { createFleet } from '../../dist/src/game/fleet.js'
import { createNetwork } from '../../dist/src/game/network.js'
import { createSources } from '../../dist/src/game/sources/create-sources.js'
import { systemClock } from '../../dist/src/util/clock.js'
import { limitHeapGrowth } from '../../dist/src/util/heap.js'

limitHeapGrowth()
const [{ servers, interval }] = await once(process, 'message')

const silent = () => {}
const logger = { level: 'silent', info: silent, warn: silent, error: silent, fatal: silent, debug: silent, trace: silent, silent }
logger.child = () => logger

const historyFolder = mkdtempSync(join(tmpdir(), 'tickwarden-bench-'))
const config = loadConfig({ env: { POLL_INTERVAL: `${interval}ms`, HISTORY_DIR: historyFolder } })
const network = createNetwork({ clock: systemClock, servers: servers.length })
// Without jitter a poll is due exactly one interval after the previous one.
const fleet = createFleet({
  servers,
  poll: config.poll,
  clock: systemClock,
  log: logger,
  network,
  createSources,
  random: () => 0,
})

let late = []
let failed = 0
let polls = 0
const first = new Set()
const startedAt = new Map()
const dueAt = new Map()
let begun = 0
const app = await buildApp({ config, fleet, logger })
fleet.subscribe(({ server, at, pollDuration, lastPollAt, up }) => {
  if (lastPollAt === undefined) return
  const started = at - pollDuration * 1_000
  const before = startedAt.get(server)
  // A snapshot that was published without a poll.
  if (before !== undefined && started - before < 1) return
  startedAt.set(server, started)
  polls++
  if (!up) failed++
  // The earliest start shows when the polls of a server are due.
  const due = Math.min(dueAt.get(server) ?? started, started)
  if (before !== undefined) late.push(at - due)
  dueAt.set(server, due + interval)
  if (!first.has(server)) {
    first.add(server)
    if (first.size === servers.length) process.send({ allPolledMs: at - begun })
  }
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
const delay = monitorEventLoopDelay({ resolution: 20 })
delay.enable()
let cpu = process.cpuUsage()
let since = performance.now()

function measured() {
  const used = process.cpuUsage(cpu)
  const result = {
    cpuSeconds: (used.user + used.system) / 1e6,
    userSeconds: used.user / 1e6,
    seconds: (performance.now() - since) / 1_000,
    rss: process.memoryUsage().rss,
    memory: process.memoryUsage(),
    late: late.toSorted((a, b) => a - b),
    polls,
    failed,
    delayP99: delay.percentile(99) / 1e6,
    delayMax: delay.max / 1e6,
  }
  late = []
  polls = 0
  failed = 0
  delay.reset()
  cpu = process.cpuUsage()
  since = performance.now()
  return result
}

process.on('message', (order) => {
  if (order === 'start') {
    begun = performance.now()
    fleet.start()
  } else process.send(measured())
})
process.on('disconnect', () => {
  rmSync(historyFolder, { recursive: true, force: true })
  process.exit()
})
process.send({ url })
