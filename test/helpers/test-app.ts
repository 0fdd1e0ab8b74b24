import pino from 'pino'
import { type App, buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { type FakeFleet, fakeFleet, type Script } from './fake-fleet.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { onTestFinished } from './test-end.ts'

export interface TestApp {
  readonly app: App
  readonly fleet: FakeFleet
  readonly clock: ManualClock
  readonly url: string
  get(path: string, headers?: Record<string, string>): Promise<Response>
}

export interface TestAppOptions {
  /** By server name, the first one the primary. */
  readonly scripts: Record<string, Script>
  readonly env?: Readonly<Record<string, string>>
  /** Path of a config file. */
  readonly file?: string
  /** Whether every server is polled once before the test continues; default true. */
  readonly polled?: boolean
}

/** The whole service listening on a free port, watching servers that follow a script, with a manual clock. */
export async function buildTestApp({ scripts, env = {}, file, polled = true }: TestAppOptions): Promise<TestApp> {
  const clock = manualClock()
  const fleet = fakeFleet(scripts, clock)
  // The fleet is passed in, so that none is configured.
  const config = loadConfig({ env, watches: false, ...(file !== undefined && { file }) })
  const app = await buildApp({ config, fleet, clock, logger: pino({ level: 'silent' }) })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    fleet.close()
    await app.close()
  })
  if (polled) await fleet.pollAll()
  return { app, fleet, clock, url, get: (path, headers = {}) => fetch(url + path, { headers }) }
}
