import type { FastifyBaseLogger } from 'fastify'
import { buildApp } from '../app.ts'
import { sharedClock, systemClock } from '../clock.ts'
import { createReplica } from '../cluster/replica.ts'
import type { Config } from '../config.ts'
import { demoServerName, demoSettings, startDemoServer } from '../game/demo/server.ts'
import { createFleet, type Fleet } from '../game/fleet.ts'
import { createNetwork } from '../game/network.ts'
import { createSources } from '../game/sources/create-sources.ts'
import { createHistogram } from '../histogram.ts'
import { createDeferredLog } from './deferred-log.ts'
import { explained, listenSettings } from './listen.ts'
import { startLines } from './start-lines.ts'

export interface Service {
  /** `http://host:port`, with the port it really has. */
  readonly url: string
  /** Ends listening, polling and the demo server; replies under way are finished. */
  close(): Promise<void>
}

/**
 * Starts the whole service: with no server configured also the demo server, which is then watched.
 * @throws ListenError where an address cannot be had, after everything that was started has been closed
 */
export async function serve(config: Config, logger: FastifyBaseLogger): Promise<Service> {
  const demo = config.servers.length === 0 ? await startDemoServer({}) : undefined
  const servers = demo === undefined ? config.servers : [{ ...demoSettings(demo, demoServerName), demo: true } as const]
  const { stateUrl } = config.cluster
  const clock = stateUrl === undefined ? systemClock : sharedClock
  const nameLookups = createHistogram()
  const pollDelays = createHistogram()
  const network = createNetwork({ clock, servers: () => fleet.servers.length, onLookup: nameLookups.observe })
  const deferred = createDeferredLog(logger)
  const replica = stateUrl && createReplica({ address: stateUrl, config: config.cluster, poll: config.poll, clock, log: logger })
  const fleet: Fleet = createFleet({
    ...{ servers, poll: config.poll, clock, log: logger, network, createSources },
    onPollStart: pollDelays.observe,
    ...(replica && { share: replica.share }),
  })
  const app = await buildApp({
    ...{ config, fleet, clock, logger, log: deferred.log, nameLookups, pollDelays },
    ...(replica && { replica }),
  })
  const close = async () => {
    // First: while the replies under way are finished, others take the servers over.
    await replica?.close()
    fleet.close()
    network.close()
    await app.close()
    await demo?.close()
  }
  try {
    const { host, port } = config
    const listening = app.listen({ host, port, listenTextResolver: startLines(servers) })
    const url = await explained(listening, { host, port }, listenSettings.service)
    const { metricsListen } = config.metrics
    if (app.metricsApp !== undefined && metricsListen !== undefined) {
      const listening = app.metricsApp.listen({
        ...metricsListen,
        listenTextResolver: (address) => `The metrics are served on ${address}`,
      })
      await explained(listening, metricsListen, listenSettings.metrics)
    }
    for (const warning of config.warnings) logger.warn(warning)
    deferred.release()
    fleet.start()
    replica?.start(fleet)
    return { url, close }
  } catch (error) {
    deferred.release()
    await close()
    throw error
  }
}
