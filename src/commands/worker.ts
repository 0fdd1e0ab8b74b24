import type { FastifyBaseLogger } from 'fastify'
import { createHttpHistogram } from '../../exporter/http-histogram.ts'
import { type App, buildApp } from '../app.ts'
import { sharedClock } from '../clock.ts'
import { createSharedWatchers } from '../cluster/shared-watchers.ts'
import { createLink, type Link } from '../cluster/workers/link.ts'
import { secretsOfConfig } from '../config/secrets.ts'
import type { Config } from '../config.ts'
import { createFleet } from '../game/fleet.ts'
import { createSources } from '../game/sources/create-sources.ts'
import { limitHeapGrowth } from '../heap.ts'
import { maskLines } from '../secrets/masked-log.ts'
import { ListenError, listenSettings, withListenError } from './listen.ts'
import type { Service } from './serve.ts'

/** Interval of the metrics sent to the primary process, milliseconds. */
const reportMs = 1_000

/** Limits the clients of event streams to this worker's share. */
const withShare = ({ live, cluster, ...config }: Config): Config => ({
  ...config,
  cluster,
  live: { ...live, eventsLimit: Math.ceil(live.eventsLimit / cluster.workers) },
})

/** Sends the metrics of this worker at intervals. @returns a function that stops it */
function startReports(link: Link, { parts }: Pick<App, 'parts'>, requests: ReturnType<typeof createHttpHistogram>): () => void {
  let reported = 0
  let cancel = () => {}
  const report = () => {
    cancel = sharedClock.after(reportMs, report)
    // Messages to a suspended process would only fill the memory.
    if (!link.primary.isResponsive) return
    const { clients, dropped } = parts.events.metrics()
    link.send({ type: 'metrics', requests: requests.take(), clients, dropped: dropped - reported })
    reported = dropped
  }
  report()
  return () => cancel()
}

/**
 * Starts a worker: it answers requests from the snapshots that the primary process sends.
 * @returns undefined if it could not start, which is reported to the primary process
 */
export async function startWorker(
  createLogger: (config: Config) => Promise<FastifyBaseLogger>,
): Promise<Omit<Service, 'reload'> | undefined> {
  limitHeapGrowth()
  const link = createLink(sharedClock)
  const { config: given, servers, socketPath } = await link.started
  const config = withShare(given)
  const logger = await createLogger(config)
  const clock = sharedClock
  const watchers = createSharedWatchers({ settings: config.poll, clock, log: logger })
  const fleet = createFleet({ servers, poll: config.poll, clock, log: logger, createSources, share: watchers.share })
  fleet.onChange(maskLines(logger, () => secretsOfConfig(config, fleet.servers)))
  const unfollow = link.follow(fleet, watchers, logger)
  const requests = createHttpHistogram()
  try {
    const app = await buildApp({
      ...{ config, fleet, clock, logger },
      ...(link.discovery && { discovery: link.discovery }),
      worker: { socketPath, primary: link.primary, loadHistory: link.loadHistory, requests },
    })
    const { host, port } = config
    const listening = app.listen({ host, port, listenTextResolver: (url) => `A worker is ready at ${url}` })
    const url = await withListenError(listening, { host, port }, listenSettings.service)
    const endReports = startReports(link, app, requests)
    link.send({ type: 'listening', url })
    return {
      url,
      async close() {
        endReports()
        unfollow()
        fleet.close()
        await app.close()
      },
    }
  } catch (error) {
    link.send({ type: 'failed', message: (error as Error).message, isListenError: error instanceof ListenError })
    return undefined
  }
}
