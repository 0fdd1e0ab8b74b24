import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Discovery } from '../../discovery/discovery.ts'
import type { Fleet } from '../../game/fleet.ts'
import type { RequestCounts } from '../../histogram.ts'
import type { Log } from '../../log.ts'
import { createIconStore } from '../icon-store.ts'
import { createFeeds, type Feed } from './feed.ts'
import { type PrimaryMessage, pulseMs, type WorkerMessage } from './messages.ts'
import { workerCommand } from './worker-command.ts'

/** The workers, which answer requests while the primary process polls the servers. */
export interface Workers {
  /**
   * Starts the workers.
   * @returns their URL, when all of them listen
   * @throws WorkerFailure if one cannot start
   */
  start(): Promise<string>
  /** Metrics of the event streams of all workers. */
  eventMetrics(): { readonly clients: number; readonly dropped: number }
  /** Stops the workers; replies in progress are finished. */
  close(): Promise<void>
}

export interface WorkersOptions {
  readonly count: number
  readonly config: Config
  readonly fleet: Fleet
  /** State of discovery; absent if the demo server is watched. */
  readonly discovery?: Pick<Discovery, 'status' | 'onChange'>
  /** The recorded history, which a worker loads when it starts. */
  readonly history: { image(server: string): Buffer | undefined }
  readonly requests: RequestCounts
  readonly socketPath: string
  readonly clock: Clock
  readonly log: Log
}

/** A worker could not start. */
export class WorkerFailure extends Error {
  override readonly name = 'WorkerFailure'
  readonly isListenError: boolean

  constructor(message: string, isListenError: boolean) {
    super(message)
    this.isListenError = isListenError
  }
}

/** Minimum time from the start of a worker to that of its replacement, milliseconds. */
const restartPauseMs = 1_000
/** Milliseconds after which workers that do not stop are killed. */
const graceMs = 4_000

interface Running {
  readonly worker: Worker
  readonly startedAt: number
  feed?: Feed
  clients: number
  /** A pulse is waiting to be sent, because the worker is suspended; no second one is added. */
  isPulseWaiting: boolean
}

export function createWorkers(options: WorkersOptions): Workers {
  const { count, config, fleet, discovery, history, requests, socketPath, clock, log } = options
  const running = new Set<Running>()
  const feeds = createFeeds({ fleet, icons: createIconStore(), clock, staleAfter: config.poll.staleAfter })
  let dropped = 0
  let hasStarted = false
  let isClosed = false
  let cancelPulses = () => {}

  function send({ worker }: Running, message: PrimaryMessage, onSent: () => void = () => {}): void {
    // A worker that is about to exit accepts no messages.
    if (worker.isConnected()) worker.send(message, onSent)
  }

  const unfollowFleet = fleet.onChange(() => {
    for (const one of running) send(one, { type: 'servers', servers: fleet.servers })
  })

  const unfollowDiscovery = discovery?.onChange(() => {
    const lists = discovery.status()
    for (const one of running) send(one, { type: 'lists', lists })
  })

  function sendPulses(): void {
    for (const one of running) {
      if (one.isPulseWaiting || !one.worker.isConnected()) continue
      one.isPulseWaiting = true
      send(one, { type: 'pulse' }, () => {
        one.isPulseWaiting = false
      })
    }
    cancelPulses = clock.after(pulseMs, sendPulses)
  }

  /** @param onStarted called with the URL, or with the reason why the worker does not listen */
  function fork(onStarted: (result: string | WorkerFailure) => void): void {
    const one: Running = { worker: cluster.fork(), startedAt: clock.now(), clients: 0, isPulseWaiting: false }
    const { worker } = one
    running.add(one)
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'ready') {
        send(one, { type: 'start', config, servers: fleet.servers, lists: discovery?.status(), socketPath })
        one.feed = feeds.open((batch, onSent) => send(one, batch, onSent))
      } else if (message.type === 'listening') onStarted(message.url)
      else if (message.type === 'failed') {
        onStarted(new WorkerFailure(message.message, message.isListenError))
        if (!hasStarted) return
        log.error(`A worker could not start: ${message.message}`)
        worker.process.kill('SIGKILL')
      }
      if (message.type === 'history') send(one, { ...message, image: history.image(message.server) })
      else if (message.type === 'repeat') one.feed?.repeat(message.server)
      else if (message.type === 'metrics') {
        requests.add(message.requests)
        one.clients = message.clients
        dropped += message.dropped
      }
    })
    worker.on('error', (error) => log.error({ err: error }, 'a message to a worker could not be sent'))
    worker.once('exit', (code, signal) => {
      running.delete(one)
      one.feed?.close()
      onStarted(new WorkerFailure(`a worker exited (${signal ?? `exit code ${code}`})`, false))
      if (isClosed) return
      log.warn({ worker: worker.process.pid, code, signal }, 'A worker exited; starting another one.')
      const pause = Math.max(0, restartPauseMs - (clock.now() - one.startedAt))
      clock.after(pause, () => {
        if (!isClosed) fork(() => {})
      })
    })
  }

  return {
    async start() {
      // The workers accept connections themselves, so that they answer while this process is busy or suspended.
      cluster.schedulingPolicy = cluster.SCHED_NONE
      cluster.setupPrimary({ args: [workerCommand], serialization: 'advanced' })
      const starts = Array.from({ length: count }, () => new Promise<string | WorkerFailure>(fork))
      sendPulses()
      const results = await Promise.all(starts)
      const failure = results.find((result) => result instanceof WorkerFailure)
      if (failure !== undefined) throw failure
      hasStarted = true
      return String(results[0])
    },
    eventMetrics: () => ({ clients: [...running].reduce((sum, { clients }) => sum + clients, 0), dropped }),
    async close() {
      isClosed = true
      cancelPulses()
      unfollowFleet()
      unfollowDiscovery?.()
      feeds.close()
      const ends = [...running].map(async ({ worker }) => {
        const ended = once(worker, 'exit')
        worker.process.kill('SIGTERM')
        const cancel = clock.after(graceMs, () => worker.process.kill('SIGKILL'))
        await ended
        cancel()
      })
      await Promise.all(ends)
    },
  }
}
