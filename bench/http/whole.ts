import pino from 'pino'
import type { Fields } from '../../src/game/fields.ts'
import { report } from './child.ts'

/** The whole service in a process of its own; tells its parent where it listens. */
const fields: Partial<Fields> = {
  version: '1.21.11',
  protocol: 774,
  motd: 'A Minecraft Server\nwith two lines',
  playersOnline: 8,
  playersMax: 20,
  players: {
    complete: true,
    players: Array.from({ length: 8 }, (_, n) => ({ name: `Player${n}`, id: `069a79f4-44e9-4726-a5be-fca90e38aaf${n}` })),
  },
  secureChatEnforced: true,
  defaultGameMode: 'SURVIVAL',
  ip: '192.0.2.7',
  port: 25565,
  tickCount: { ticks: 123_456, at: 1_000 },
  tickDurationMean: 0.0123,
}
// The built code, as it is run: what tsx makes of the source names every function anew each time it is made.
const built = <T>(path: string): Promise<T> => import(new URL(`../../dist/src/${path}.js`, import.meta.url).href)
const { buildApp } = await built<typeof import('../../src/app.ts')>('app')
const { systemClock } = await built<typeof import('../../src/clock.ts')>('clock')
const { loadConfig } = await built<typeof import('../../src/config.ts')>('config')
const { createFleet } = await built<typeof import('../../src/game/fleet.ts')>('game/fleet')
const { silentLog } = await built<typeof import('../../src/log.ts')>('log')

const hour = 3_600_000
const fleet = createFleet({
  servers: [{ name: 'Server' }],
  poll: { interval: hour, timeout: 3_000, staleAfter: hour },
  clock: systemClock,
  log: silentLog,
  createSources: () => ({
    list: () => [
      {
        name: 'status',
        target: 'bench',
        poll: async () => ({ source: 'status', at: systemClock.now(), fields }),
        close() {},
      },
    ],
    close() {},
  }),
})
await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
const app = await buildApp({
  config: loadConfig({ env: {} }),
  fleet,
  logger: pino({ level: 'info' }, pino.destination('/dev/null')),
})
report(await app.listen({ host: '127.0.0.1', port: 0 }))
