import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../src/commands/serve.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { freePort } from '../helpers/run-tool.ts'
import { until } from '../helpers/until.ts'

const silent = pino({ level: 'silent' })

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-start-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Number of open sockets, timers and watches by type. */
function resources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

/** A configuration that throws when its properties are read for the nth time. */
function failingAt(config: Config, count: number): Config {
  let reads = 0
  return new Proxy(config, {
    get(target, name) {
      if (++reads === count) throw new Error(`read ${count}: ${String(name)}`)
      return Reflect.get(target, name)
    },
  })
}

const metricsAddress = `127.0.0.1:${await freePort()}`
const environments = {
  'the demo server and folders': () => ({ DATA_DIR: temporaryFolder() }),
  'discovery, a metrics listener and an unreachable cluster': () => ({
    MC_SERVER: '127.0.0.1:1',
    DISCOVERY_HTTP_SD: 'http://127.0.0.1:1/',
    METRICS_LISTEN: metricsAddress,
    STATE_URL: 'redis://127.0.0.1:1',
  }),
} as const

it.each(Object.keys(environments) as (keyof typeof environments)[])(
  'closes everything when a part throws, at any stage of a start with %s',
  { timeout: 300_000 },
  async (name) => {
    const env = { PORT: '0', HOST: '127.0.0.1', ...environments[name]() }
    const config = loadConfig({ env })
    // Loads what is loaded when it is first needed.
    await serve(config, silent).then(
      (service) => service.close(),
      () => {},
    )
    const before = resources()
    let stages = 0
    for (let count = 1; ; count++) {
      const started = serve(failingAt(config, count), silent)
      const service = await started.catch((error: Error) => void expect(error.message).toMatch(/^read \d+: /))
      if (service !== undefined) {
        await service.close()
        break
      }
      stages++
    }
    await until(() => [...resources()].every(([type, number]) => number <= (before.get(type) ?? 0)))
    expect(stages).toBeGreaterThan(20)
  },
)
