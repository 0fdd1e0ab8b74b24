import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { systemClock } from '../../src/util/clock.ts'
import { addressOf, type Script, scriptedFleet } from './scripted-fleet.ts'

const groups = ['Game', 'Network', `Events_of_a_network_with_${'a_long_name'.repeat(5)}`, undefined]

/** What the page shows of a server in each state. */
const fieldsOf = (index: number): Partial<Fields> => ({
  ...{ edition: 'java', version: '1.21.11', software: index % 2 === 0 ? 'paper' : 'vanilla', latency: 0.01 + index / 1_000 },
  ...{ motd: `Server ${index}`, formattedMotd: `§6§lServer ${index} §r§7season 4\n§aplay.example.org` },
  ...{ playersOnline: index % 20, playersMax: 20 },
  ...{ tickRate: 20, tickDurationMean: 0.012, tickRateTarget: 20 },
})

/** The whole service, until the test ends, watching servers in groups; in every sixteenth position one is down, lags, is frozen or paused. */
export async function startOverview(count: number, env: Readonly<Record<string, string>> = {}) {
  const names = Array.from({ length: count }, (_, index) => `server-${index}`)
  const script: Script = Object.fromEntries(
    names.map((name, index) => {
      const fields = fieldsOf(index)
      if (index % 16 === 4) return [name, { status: new SourceError('refused', `${name}: connection refused`) }]
      if (index % 16 === 6) return [name, { status: fields, rcon: { tickRate: 12, tickDurationMean: 0.08 } }]
      if (index % 16 === 8) return [name, { status: fields, rcon: { tickFrozen: true } }]
      if (index % 16 === 10) return [name, { status: fields, rcon: { tickPaused: true } }]
      return [name, { status: fields }]
    }),
  )
  const settings = names.map((name, index) => {
    const group = groups[index % groups.length]
    return { name, ...(group !== undefined && { group }), sources: { status: { address: addressOf(index % 1_000) } } }
  })
  const fleet = scriptedFleet(script, systemClock, settings)
  const app = await buildApp({ config: loadConfig({ env }), fleet, logger: pino({ level: 'silent' }) })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    fleet.close()
    await app.close()
  })
  await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
  // Or the values would become stale.
  fleet.start()
  return { url, script, fleet, fieldsOf }
}
