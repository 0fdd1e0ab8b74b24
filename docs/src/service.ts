import pino from 'pino'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { systemClock } from '../../src/util/clock.ts'
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

/** Builds the whole service, without a server and without listening, and reads its OpenAPI document. */
export async function readOpenApi(): Promise<OpenApi> {
  const config = loadConfig({ env: {}, file: '/dev/null', watches: false })
  const fleet = createFleet({ servers: [], poll: config.poll, clock: systemClock, log: silentLog, createSources })
  const app = await buildApp({ config, fleet, logger: pino({ level: 'silent' }) })
  try {
    return (await app.inject('/openapi.json')).json()
  } finally {
    fleet.close()
    await app.close()
  }
}
