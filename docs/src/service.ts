import pino from 'pino'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { systemClock } from '../../src/util/clock.ts'
import { createHistogram } from '../../src/util/histogram.ts'
import { silentLog } from '../../src/util/log.ts'

/** The part of the service's OpenAPI document that the tables use. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>
}

export interface Operation {
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
}

/** The descriptions that the service generates. */
export interface SelfDescription {
  readonly openapi: OpenApi
  /** The text of `/metrics` of a service that watches no server and has served a request. */
  readonly metrics: string
}

/** Builds the whole service, without a server and without listening, and reads its descriptions. */
export async function readSelfDescription(): Promise<SelfDescription> {
  const config = loadConfig({ env: {}, file: '/dev/null', watches: false })
  const fleet = createFleet({ servers: [], poll: config.poll, clock: systemClock, log: silentLog, createSources })
  const nameLookups = createHistogram()
  nameLookups.observe(0.1)
  const app = await buildApp({ config, fleet, logger: pino({ level: 'silent' }), nameLookups })
  try {
    const openapi = await app.inject('/openapi.json')
    const metrics = await app.inject('/metrics')
    return { openapi: openapi.json() as OpenApi, metrics: metrics.body }
  } finally {
    fleet.close()
    await app.close()
  }
}
