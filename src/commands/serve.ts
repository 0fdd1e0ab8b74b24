import type { FastifyBaseLogger } from 'fastify'
import { type App, buildApp } from '../app.ts'
import type { Config } from '../config/config.ts'
import { parseServerFile, readServerValues } from '../config/parse-servers.ts'
import { secretsOfConfig } from '../config/secrets.ts'
import { Tokens } from '../config/tokens.ts'
import { createDiscovery, describeChange } from '../discovery/discovery.ts'
import { isDiscoveryOn } from '../discovery/settings.ts'
import { createFleet, type Fleet } from '../game/fleet.ts'
import { createNetwork } from '../game/network.ts'
import type { ServerSettings } from '../game/server-settings.ts'
import { createSources } from '../game/sources/create-sources.ts'
import { maskLines } from '../secrets/masked-log.ts'
import { sharedClock, systemClock } from '../util/clock.ts'
import { limitHeapGrowth } from '../util/heap.ts'
import { createHistogram } from '../util/histogram.ts'
import type { Log } from '../util/log.ts'
import { waitUpTo } from '../util/wait-up-to.ts'
import { createConfigReader } from './config-reader.ts'
import { createFirstPolls } from './first-polls.ts'
import { listenSettings, throwListenError } from './listen.ts'
import { startLines } from './start-lines.ts'

export type Service = Awaited<ReturnType<typeof start>>

const demoStays = 'The demo server is watched because no server was configured at the start: restart the service to watch others.'
/** Maximum time that the start waits for lists of servers, milliseconds. Later ones are added when they arrive. */
const maxDiscoveryMs = 2_000
/** Maximum time for closing, milliseconds: process managers often kill after a few seconds. */
export const maxCloseMs = 4_500

/** Starts the separate listener of the metrics, if METRICS_LISTEN is set. */
async function listenForMetrics({ metricsApp }: Pick<App, 'metricsApp'>, { metricsListen }: Config['metrics']): Promise<void> {
  if (metricsApp === undefined || metricsListen === undefined) return
  await metricsApp
    .listen({ ...metricsListen, listenTextResolver: (address) => `The metrics are served on ${address}` })
    .catch((error) => throwListenError(error, metricsListen, listenSettings.metrics))
}

/** Creates a log that buffers its lines until it is released, so that the first line at a start is that of the service. */
function createDeferredLog(target: Log) {
  let buffered: (() => void)[] | undefined = []
  const deferred =
    (level: keyof Log): Log['info'] =>
    (...entry: readonly unknown[]) => {
      const write = () => Reflect.apply(target[level], target, entry)
      if (buffered === undefined) write()
      else buffered.push(write)
    }
  const log: Log = { debug: deferred('debug'), info: deferred('info'), warn: deferred('warn'), error: deferred('error') }
  const release = () => {
    for (const write of buffered ?? []) write()
    buffered = undefined
  }
  return { log, release }
}

/** The order in which parts are closed: replicas take over the servers while replies in progress are finished. */
const closeOrder = ['discovery', 'replica', 'fleet', 'network', 'app', 'demo'] as const
/** How to close the parts that have been opened. */
type Opened = Partial<Record<(typeof closeOrder)[number], () => unknown>>

/** Closes every part, even if closing another one fails. The app closes beside the others, so that it stops accepting requests at once. */
async function closeAll(opened: Opened): Promise<void> {
  const closing = opened.app === undefined ? undefined : Promise.resolve().then(opened.app)
  const errors: unknown[] = []
  for (const name of closeOrder) {
    try {
      await (name === 'app' ? closing : opened[name]?.())
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

/**
 * Starts the service. If no servers are configured, it starts and watches the demo server.
 * @param load reads the configuration again; default: returns the same
 * @throws ListenError if it cannot listen on an address, or anything else; everything started is then closed
 */
export async function serve(config: Config, logger: FastifyBaseLogger, load = () => config): Promise<Service> {
  const opened: Opened = {}
  const deferred = createDeferredLog(logger)
  try {
    return await start({ config, logger, load, deferred, opened })
  } catch (error) {
    deferred.release()
    // The error of the start is the one to report.
    await waitUpTo(closeAll(opened), maxCloseMs, systemClock).catch(() => {})
    throw error
  }
}

interface StartOptions {
  readonly config: Config
  readonly logger: FastifyBaseLogger
  readonly load: () => Config
  /** Released once the service listens. */
  readonly deferred: ReturnType<typeof createDeferredLog>
  /** Each part is added when it is opened. */
  readonly opened: Opened
}

async function start({ config, logger, load, deferred, opened }: StartOptions) {
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
  const tokens = new Tokens(config)
  const { stateUrl } = config.cluster
  const clock = stateUrl === undefined ? systemClock : sharedClock
  const isWatching = config.servers.length > 0 || isDiscoveryOn(config.discovery, config.file)
  const isDataOnly = !isWatching && config.data.dataOnly === 'true'
  const isDemo = !isWatching && !isDataOnly
  const demoModule = isDemo ? await import('../demo/demo-server.ts') : undefined
  const demo = await demoModule?.startDemoServer({})
  opened.demo = () => demo?.close()
  const discovery =
    demo === undefined
      ? createDiscovery({
          parseServers: parseServerFile,
          readServer: readServerValues,
          settings: config.discovery,
          ...(config.file !== undefined && { configFile: config.file }),
          readConfig: createConfigReader(config, loadAgain, deferred.log, tokens),
          clock,
          log: deferred.log,
        })
      : undefined
  opened.discovery = () => discovery?.close()
  if (discovery) await waitUpTo(discovery.firstRead, maxDiscoveryMs, clock)
  servers =
    demo && demoModule
      ? [{ ...demoModule.demoSettings(demo, demoModule.demoServerName), demo: true } as const]
      : (discovery?.servers() ?? [])
  secretsChanged()
  const nameLookups = createHistogram()
  const pollDelays = createHistogram()
  const network = createNetwork({ clock, servers: () => fleet.servers.length, onLookup: nameLookups.observe })
  opened.network = () => network.close()
  // Loaded only if it is needed: the client of Redis is large.
  const replica =
    stateUrl &&
    new (await import('../cluster/replica.ts')).Replica({
      address: stateUrl,
      config: config.cluster,
      poll: config.poll,
      clock,
      log: logger,
    })
  const firstPolls = createFirstPolls(logger)
  opened.replica = () => replica?.close()
  const fleet: Fleet = createFleet({
    ...{ servers, poll: config.poll, clock, log: logger, network, createSources },
    onPollStart: pollDelays.observe,
    onDiscovery: firstPolls.found,
    ...(replica && { share: replica.share }),
  })
  firstPolls.follow(fleet)
  opened.fleet = () => fleet.close()
  const follow = () => {
    if (discovery === undefined) return
    servers = discovery.servers()
    secretsChanged()
    const change = fleet.update(servers)
    const text = describeChange(change)
    if (text !== '') deferred.log.info({ servers: fleet.servers.length }, `The watched servers have changed: ${text}`)
  }
  discovery?.onChange(follow)
  // A list may have arrived since the fleet was given its servers.
  follow()
  const app = await buildApp({
    ...{ config, tokens, fleet, clock, logger, log: deferred.log, nameLookups, pollDelays },
    ...(discovery && { discovery }),
    ...(replica && { replica }),
  })
  opened.app = () => app.close()

  const { host, port } = config
  const url = await app
    .listen({ host, port, listenTextResolver: startLines(servers, isDataOnly) })
    .catch((error) => throwListenError(error, { host, port }, listenSettings.service))
  await listenForMetrics(app, config.metrics)
  for (const warning of config.warnings) logger.warn(warning)
  deferred.release()
  fleet.start()
  replica?.start(fleet)
  return {
    /** `http://host:port`, with the actual port. */
    url,
    /** Stops listening, polling and the demo server; replies in progress are finished. */
    close: () => closeAll(opened),
    /** Reads the servers of all providers again. Never rejects. */
    reload: async () => (discovery ? discovery.reload() : logger.info(demoStays)),
  }
}
