// The whole service as built, as one of several replicas. It measures what can only be measured in the process.
import { once } from 'node:events'
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { buildApp } from '../../dist/src/app.js'
import { Replica } from '../../dist/src/cluster/replica.js'
import { loadConfig } from '../../dist/src/config/config.js'
import { createFleet } from '../../dist/src/game/fleet.js'
import { createNetwork } from '../../dist/src/game/network.js'
import { createSources } from '../../dist/src/game/sources/create-sources.js'
import { sharedClock as clock } from '../../dist/src/util/clock.js'
import { limitHeapGrowth } from '../../dist/src/util/heap.js'

limitHeapGrowth()
const [{ servers, replicas, env }] = await once(process, 'message')

const silent = () => {}
const logger = { level: 'silent', info: silent, warn: silent, error: silent, fatal: silent, debug: silent, trace: silent, silent }
logger.child = () => logger

// In microseconds.
const startDelay = createHistogram()
const late = createHistogram()
const age = createHistogram()
const config = loadConfig({ env })
const { interval } = config.poll
const network = createNetwork({ clock, servers: servers.length })
const { stateUrl: address } = config.cluster
const replica = new Replica({ address, config: config.cluster, poll: config.poll, clock, log: logger })
const fleet = createFleet({
  ...{ servers, poll: config.poll, clock, log: logger, network, createSources, share: replica.share },
  onPollStart: (seconds) => startDelay.record(Math.max(1, Math.round(seconds * 1e6))),
  // Without jitter a poll is due exactly one interval after the previous one.
  random: () => 0,
})

let failed = 0
const dueAt = new Map()
/** Servers that have been polled, here or by another replica. */
const polledServers = new Set()

/** A snapshot of a server that this replica polls. */
function polled({ server, at, pollDuration, up }) {
  const started = at - pollDuration * 1_000
  if (!up) failed++
  // The earliest start shows when the polls of a server are due.
  const due = Math.min(dueAt.get(server) ?? started, started)
  // A snapshot that was published without a poll has the duration of the poll before it.
  if (dueAt.has(server) && started - due < interval / 2) late.record(Math.max(1, Math.round((at - due) * 1_000)))
  dueAt.set(server, due + interval)
}

fleet.subscribe((snapshot) => {
  if (snapshot.lastPollAt === undefined) return
  polledServers.add(snapshot.server)
  if (replica.isPolledHere(snapshot.server)) polled(snapshot)
  else age.record(Math.max(1, Math.round((clock.now() - snapshot.lastPollAt) * 1_000)))
})
const app = await buildApp({ config, fleet, logger, clock, replica })
const url = await app.listen({ host: '127.0.0.1', port: 0 })
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
let cpu = process.cpuUsage()
let since = performance.now()

function measured() {
  const { user, system } = process.cpuUsage(cpu)
  const result = {
    cpuSeconds: (user + system) / 1e6,
    seconds: (performance.now() - since) / 1_000,
    memory: process.memoryUsage(),
    polls: late.count,
    failed,
    lateP50: late.percentile(50) / 1e3,
    lateP99: late.percentile(99) / 1e3,
    startP99: startDelay.percentile(99) / 1e3,
    received: age.count,
    ageP50: age.percentile(50) / 1e3,
    ageP99: age.percentile(99) / 1e3,
    delayP99: delay.percentile(99) / 1e6,
    delayMax: delay.max / 1e6,
  }
  for (const histogram of [startDelay, late, age, delay]) histogram.reset()
  failed = 0
  cpu = process.cpuUsage()
  since = performance.now()
  return result
}

const ownServers = () => servers.filter(({ name }) => replica.isPolledHere(name)).map(({ name }) => name)

/** Whether every server has been polled, here or by another replica, and those of this replica by itself. */
function isComplete() {
  if (polledServers.size < servers.length) return false
  const { members, servers: owned } = replica.metrics()
  return members === replicas && owned > 0 && ownServers().length === owned
}

const orders = {
  async start() {
    const begun = performance.now()
    fleet.start()
    replica.start(fleet)
    while (!isComplete()) await setTimeout(Math.min(250, interval / 20))
    // The times of the first polls are not those of the later ones.
    dueAt.clear()
    return { completeMs: performance.now() - begun, own: ownServers() }
  },
  measure: measured,
}
process.on('message', async (order) => {
  process.send(await orders[order]())
})
process.on('disconnect', () => process.exit())
process.send({ url })
