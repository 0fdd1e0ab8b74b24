import type { FastifyBaseLogger } from 'fastify'
import { createHttpHistogram } from '../../exporter/http-histogram.ts'
import { type App, buildApp } from '../app.ts'
import { sharedClock, systemClock } from '../clock.ts'
import { createWorkers, WorkerFailure, type Workers } from '../cluster/workers/primary.ts'
import { secretsOfConfig } from '../config/secrets.ts'
import { createTokens } from '../config/tokens.ts'
import type { Config } from '../config.ts'
import { createDiscovery, describeChange } from '../discovery/discovery.ts'
import { isDiscoveryOn } from '../discovery/settings.ts'
import { demoServerName, demoSettings, startDemoServer } from '../game/demo/server.ts'
import { createFleet, type Fleet } from '../game/fleet.ts'
import { createNetwork } from '../game/network.ts'
import type { ServerSettings } from '../game/server.ts'
import { createSources } from '../game/sources/create-sources.ts'
import { waitUpTo } from '../game/watcher/deadline.ts'
import { limitHeapGrowth } from '../heap.ts'
import { createHistogram } from '../histogram.ts'
import { maskLines } from '../secrets/masked-log.ts'
import { createConfigReader } from './config-reader.ts'
import { createDeferredLog } from './deferred-log.ts'
import { ListenError, listenSettings, withListenError } from './listen.ts'
import { createPrimarySocket } from './socket-folder.ts'
import { startLines } from './start-lines.ts'

export interface Service {
  /** `http://host:port`, with the actual port. */
  readonly url: string
  /** Stops listening, polling and the demo server; replies in progress are finished. */
  close(): Promise<void>
  /** Reads the servers of all providers again. Never rejects. */
  reload(): Promise<void>
}

const demoStays = 'The demo server is watched because no server was configured at the start: restart the service to watch others.'
/** Maximum time that the start waits for lists of servers, milliseconds. Later ones are added when they arrive. */
const maxDiscoveryMs = 2_000

/** Starts the separate listener of the metrics, if METRICS_LISTEN is set. */
async function listenForMetrics({ metricsApp }: Pick<App, 'metricsApp'>, { metricsListen }: Config['metrics']): Promise<void> {
  if (metricsApp === undefined || metricsListen === undefined) return
  const listening = metricsApp.listen({
    ...metricsListen,
    listenTextResolver: (address) => `The metrics are served on ${address}`,
  })
  await withListenError(listening, metricsListen, listenSettings.metrics)
}

/** Starts the workers. @throws ListenError if they cannot listen */
async function startWorkers(workers: Workers): Promise<string> {
  try {
    return await workers.start()
  } catch (error) {
    throw error instanceof WorkerFailure && error.isListenError ? new ListenError(error.message, { cause: error }) : error
  }
}

/**
 * Starts the service. If no servers are configured, it starts and watches the demo server.
 * @param load reads the configuration again; default: returns the same
 * @throws ListenError if it cannot listen on an address; everything started is then closed
 */
export async function serve(config: Config, logger: FastifyBaseLogger, load = () => config): Promise<Service> {
  limitHeapGrowth()
  /** The newest configuration first: what was replaced may still be in use for a while. */
  let configs = [config]
  let servers: readonly ServerSettings[] = []
  const secretsChanged = maskLines(logger, () => configs.flatMap((one) => secretsOfConfig(one, servers)))
  const loadAgain = () => {
    const next = load()
    configs = [next, ...configs].slice(0, 2)
    secretsChanged()
    return next
  }
  const deferred = createDeferredLog(logger)
  const tokens = createTokens(config)
  const { stateUrl, workers: workerCount } = config.cluster
  const hasWorkers = workerCount > 1
  const clock = stateUrl === undefined && !hasWorkers ? systemClock : sharedClock
  const isDemo = config.servers.length === 0 && !isDiscoveryOn(config.discovery, config.file)
  const demo = isDemo ? await startDemoServer({}) : undefined
  const discovery =
    demo === undefined
      ? createDiscovery({
          settings: config.discovery,
          ...(config.file !== undefined && { configFile: config.file }),
          readConfig: createConfigReader(config, loadAgain, deferred.log, tokens),
          clock,
          log: deferred.log,
        })
      : undefined
  if (discovery) await waitUpTo(discovery.firstRead, maxDiscoveryMs, clock)
  servers = demo ? [{ ...demoSettings(demo, demoServerName), demo: true } as const] : (discovery?.servers() ?? [])
  secretsChanged()
  const nameLookups = createHistogram()
  const pollDelays = createHistogram()
  const network = createNetwork({ clock, servers: () => fleet.servers.length, onLookup: nameLookups.observe })
  // Loaded only if it is needed: the client of Redis is large.
  const replica =
    stateUrl &&
    (await import('../cluster/replica.ts')).createReplica({
      address: stateUrl,
      config: config.cluster,
      poll: config.poll,
      clock,
      log: logger,
    })
  const fleet: Fleet = createFleet({
    ...{ servers, poll: config.poll, clock, log: logger, network, createSources },
    onPollStart: pollDelays.observe,
    ...(replica && { share: replica.share }),
  })
  discovery?.onChange(() => {
    servers = discovery.servers()
    secretsChanged()
    const change = fleet.update(servers)
    const text = describeChange(change)
    if (text !== '') deferred.log.info({ servers: fleet.servers.length }, `The watched servers have changed: ${text}`)
  })
  const requests = createHttpHistogram()
  let workers: Workers | undefined
  const app = await buildApp({
    ...{ config, tokens, fleet, clock, logger, log: deferred.log, nameLookups, pollDelays },
    ...(discovery && { discovery }),
    ...(replica && { replica }),
    ...(hasWorkers && { workers: { requests, eventMetrics: () => workers?.eventMetrics() ?? { clients: 0, dropped: 0 } } }),
  })
  const socket = hasWorkers ? await createPrimarySocket() : undefined
  const close = async () => {
    discovery?.close()
    // First, so that other replicas take over the servers while replies in progress are finished.
    await replica?.close()
    await workers?.close()
    fleet.close()
    network.close()
    await app.close()
    await demo?.close()
    await socket?.remove()
  }

  async function listen(): Promise<string> {
    const { host, port } = config
    const describe = startLines(servers)
    if (socket === undefined)
      return withListenError(app.listen({ host, port, listenTextResolver: describe }), { host, port }, listenSettings.service)
    await app.listen({ path: socket.path, listenTextResolver: () => 'The primary process is ready.' })
    const { history } = app.parts
    workers = createWorkers({
      ...{ count: workerCount, config, fleet, history, requests, socketPath: socket.path, clock, log: logger },
      ...(discovery && { discovery }),
    })
    const url = await startWorkers(workers)
    logger.info(`${describe(url)}; workers: ${workerCount}`)
    return url
  }

  try {
    const url = await listen()
    await listenForMetrics(app, config.metrics)
    for (const warning of config.warnings) logger.warn(warning)
    deferred.release()
    fleet.start()
    replica?.start(fleet)
    return { url, close, reload: async () => (discovery ? discovery.reload() : logger.info(demoStays)) }
  } catch (error) {
    deferred.release()
    await close()
    throw error
  }
}
