import type { FastifyBaseLogger } from 'fastify'
import { buildApp } from '../app.ts'
import { systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { demoSettings, startDemoServer } from '../game/demo/server.ts'
import { createFleet } from '../game/fleet.ts'
import { createNetwork } from '../game/network.ts'
import { formatHostPort } from '../game/protocol/address.ts'
import { createSources } from '../game/sources/create-sources.ts'
import { createHistogram } from '../histogram.ts'
import { explained, listenSettings } from './listen.ts'

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
  const servers = demo === undefined ? config.servers : [demoSettings(demo, config.demoName)]
  const nameLookups = createHistogram()
  const network = createNetwork({ clock: systemClock, servers: servers.length, onLookup: nameLookups.observe })
  const fleet = createFleet({ servers, poll: config.poll, clock: systemClock, log: logger, network, createSources })
  const app = await buildApp({ config, fleet, logger, nameLookups })
  const close = async () => {
    fleet.close()
    network.close()
    await app.close()
    await demo?.close()
  }
  try {
    const listenTextResolver = (address: string) => `Tickwarden listens on ${address}`
    const { host, port } = config
    const listening = app.listen({ host, port, listenTextResolver })
    const url = await explained(listening, { host, port }, listenSettings.service)
    const { metricsListen } = config.metrics
    if (app.metricsApp !== undefined && metricsListen !== undefined) {
      const listening = app.metricsApp.listen({
        ...metricsListen,
        listenTextResolver: (address) => `The metrics are served on ${address}`,
      })
      await explained(listening, metricsListen, listenSettings.metrics)
    }
    fleet.start()
    if (demo !== undefined) {
      logger.info(
        `No server is configured, so a demo server runs on ${formatHostPort(demo.address)} and is watched; set MC_SERVER=host:port to watch your own.`,
      )
    }
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}
