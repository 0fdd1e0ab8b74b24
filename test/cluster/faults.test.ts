import { describe, expect, it, onTestFinished } from 'vitest'
import { clockShim } from '../helpers/clock-shim.ts'
import { startCountedServers } from '../helpers/counted-servers.ts'
import { openEvents } from '../helpers/event-client.ts'
import { createLossyLine } from '../helpers/lossy-line.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { createEventCheck, followReplica, type Observations, type ReplicaFollower } from '../helpers/replica-follower.ts'
import { type ServiceProcess, shareServers, startService } from '../helpers/replica-process.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

const isLong = process.env.LONG_TESTS === '1'
const count = isLong ? 300 : 30
/** The last servers go down and come back again and again. */
const steady = count - 3
// Not shorter: on a busy machine a replica may be stopped for more than a second.
const heartbeatMs = 1_000
const pollMs = 1_000
const staleMs = 10_000
const turnMs = isLong ? 4_000 : 2_000
const names = ['a', 'b', 'c'] as const

// wait: a fault lasts for a time.
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

interface Row {
  readonly phase: string
  readonly seconds: number
  readonly polls: number
  /** Polls by another replica than the one before, within half an interval. */
  readonly duplicates: number
  /** Longest time without a poll of a server, milliseconds. */
  readonly gapMs: number
  /** Connections of a client that changes replicas: those that continued after its last event, and those that sent all states. */
  readonly continued: number
  readonly restarted: number
  /** Events `up` and `down` that this client was sent twice. */
  readonly repeated: number
}

describe.skipIf(!hasTool('redis-server'))('replicas with faults', () => {
  it('never show older or unknown values, nor events that did not happen', { timeout: 400_000 }, async () => {
    const [redis, servers] = await Promise.all([startRedis(), startCountedServers(count)])
    const lines = await Promise.all(names.map(() => createLossyLine(redis.port, { onTestFinished })))
    const seen: Observations = { wrong: [], phase: 'start', replies: 0, events: 0 }
    const rows: Row[] = []

    const start = (index: number): Promise<ServiceProcess> => {
      const name = names[index] ?? ''
      const list = servers.addresses.map((address, n) => `  - { name: s${n}, address: "${address}", hostname: ${name}.test }\n`)
      return startService(name, `servers:\n${list.join('')}`, {
        STATE_URL: `redis://127.0.0.1:${lines[index]?.port}`,
        STATE_HEARTBEAT: `${heartbeatMs}ms`,
        POLL_INTERVAL: `${pollMs}ms`,
        // Long: on a busy machine an exchange may take seconds.
        POLL_TIMEOUT: `${staleMs / 2}ms`,
        STALE_AFTER: `${staleMs}ms`,
        // Set forward and back by an hour below; Redis and the other replicas keep theirs.
        NODE_OPTIONS: `--import=${clockShim(0, 3_600_000)}`,
      })
    }
    const isReady = async (replica: ServiceProcess) => (await replica.get('/readyz')).ok
    const isStable = (all: readonly ServiceProcess[]) => shareServers(all, count)

    const replicas = await Promise.all(names.map((_, index) => start(index)))
    await until(() => isStable(replicas))
    for (const replica of replicas) await until(() => isReady(replica))
    const follow = (replica: ServiceProcess) => followReplica(replica, servers, steady, seen)
    const followers: ReplicaFollower[] = await Promise.all(replicas.map(follow))

    let isOver = false
    async function turn(): Promise<void> {
      for (let round = 0; !isOver; round++) {
        for (let server = steady; server < count; server++) {
          if (round % 2 === 0) servers.down.add(server)
          else servers.down.delete(server)
          await sleep(turnMs / (count - steady))
        }
      }
    }
    let [continued, restarted, repeated] = [0, 0, 0]
    /** A client that goes from one healthy replica to the next and continues after its last event. */
    async function roam(): Promise<void> {
      const startCheck = () =>
        createEventCheck(servers, (text) => {
          // Two replicas that polled a server at the same time may have found it up in different polls.
          if (text.endsWith('already')) repeated++
          else seen.wrong.push(`${seen.phase}: roaming client: ${text}`)
        })
      let check = startCheck()
      let id: string | undefined
      for (let index = 0; !isOver; index++) {
        const follower = followers[index % followers.length]
        if (!follower?.isHealthy) {
          await sleep(10)
          continue
        }
        const client = await openEvents(
          `${follower.replica.url}/api/v1/events`,
          id === undefined ? {} : { 'last-event-id': id },
        ).catch(() => undefined)
        if (client === undefined) continue
        await sleep(pollMs)
        client.close()
        const [first] = client.events
        if (first?.event === 'snapshot') check = startCheck()
        if (id !== undefined && first?.event === 'snapshot') restarted++
        else if (first !== undefined) continued++
        client.events.forEach(check)
        id = client.events.at(-1)?.id ?? id
      }
    }
    const background = [turn(), roam()]

    async function during(phase: string, work: () => Promise<void>): Promise<void> {
      seen.phase = phase
      const [from, before] = [performance.now(), { continued, restarted, repeated }]
      await work()
      const polls = servers.polls.filter(({ at, server }) => at >= from && server < steady)
      const [last, lastBy] = [new Map<number, number>(), new Map<number, string>()]
      let [gapMs, duplicates] = [0, 0]
      for (const { server, by, at } of polls) {
        const sinceLast = at - (last.get(server) ?? from)
        gapMs = Math.max(gapMs, sinceLast)
        if (last.has(server) && lastBy.get(server) !== by && sinceLast < pollMs / 2) duplicates++
        last.set(server, at)
        lastBy.set(server, by)
      }
      const seconds = (performance.now() - from) / 1_000
      rows.push({
        ...{ phase, seconds, polls: polls.length, duplicates, gapMs },
        ...{
          continued: continued - before.continued,
          restarted: restarted - before.restarted,
          repeated: repeated - before.repeated,
        },
      })
    }
    const setFaults = (fault: (typeof lines)[number]['fault'], only = lines) => {
      for (const line of only) line.fault = fault
    }
    const isPolledByAll = (from: number, all = replicas) => servers.pollersSince(from).get(0)?.size === all.length
    /** Waits until every replica polls the servers of the others too, and for as long as values would be known without that. */
    async function waitForFallback(): Promise<void> {
      const from = performance.now()
      await until(() => isPolledByAll(from))
      await sleep(Math.max(0, staleMs - (performance.now() - from)))
    }

    try {
      await during('no fault', () => sleep(2 * pollMs))
      await during('a delay of 300 ms, then a cut', async () => {
        setFaults({ latencyMs: 300 })
        await sleep(4 * pollMs)
        setFaults('reset')
        setFaults('none')
        await until(() => isStable(replicas))
      })
      await during('one replica cut off', async () => {
        setFaults('reset', lines.slice(1, 2))
        await until(() => isStable([replicas[0]!, replicas[2]!]))
        await sleep(staleMs)
        setFaults('none')
        await until(() => isStable(replicas))
      })
      await during('replies to one replica held back', async () => {
        setFaults('silent', lines.slice(2))
        await until(() => isStable(replicas.slice(0, 2)))
        await sleep(pollMs)
        setFaults('none')
        await until(() => isStable(replicas))
      })
      await during('all cut off for longer than STALE_AFTER', async () => {
        setFaults('reset')
        await waitForFallback()
        setFaults('none')
        await until(() => isStable(replicas))
      })
      await during('the clock of one replica set forward and back by an hour', async () => {
        for (let step = 0; step < 2; step++) {
          replicas[1]!.child.kill('SIGWINCH')
          await sleep(2 * heartbeatMs + pollMs)
        }
        await until(() => isStable(replicas))
      })
      await during('flushall', async () => {
        redis.cli('flushall')
        await sleep(2 * heartbeatMs)
        await until(() => isStable(replicas))
      })
      await during('Redis killed, and started without data', async () => {
        await redis.kill()
        await sleep(2 * heartbeatMs)
        await redis.restart()
        await until(() => isStable(replicas))
      })
      await during('one replica suspended', async () => {
        followers[2]!.isHealthy = false
        replicas[2]!.child.kill('SIGSTOP')
        await until(() => isStable(replicas.slice(0, 2)))
        await sleep(2 * pollMs)
        replicas[2]!.child.kill('SIGCONT')
        await until(() => isStable(replicas))
        followers[2]!.isHealthy = true
      })
      await during('one replica killed, and started', async () => {
        followers[0]!.isHealthy = false
        replicas[0]!.child.kill('SIGKILL')
        await until(() => isStable(replicas.slice(1)))
        await followers[0]!.end()
        replicas[0] = await start(0)
        await until(() => isReady(replicas[0]!))
        followers[0] = await follow(replicas[0])
        await until(() => isStable(replicas))
      })
    } finally {
      isOver = true
      await Promise.all([...background, ...followers.map((follower) => follower.end())])
      if (isLong || process.env.SHOW)
        console.table(rows.map((row) => ({ ...row, seconds: row.seconds.toFixed(1), gapMs: row.gapMs.toFixed(0) })))
    }
    expect(seen.wrong).toEqual([])
    expect(seen.events).toBeGreaterThan(count)
    expect(seen.replies).toBeGreaterThan(count)
  })
})
