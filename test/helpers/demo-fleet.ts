import pino from 'pino'
import { type App, buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { type DemoServer, demoSettings, startDemoServer } from '../../src/demo/demo-server.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { freeDemoPorts, freePort } from './run-tool.ts'

/** One demo server of each state that the page shows. */
const specs = [
  { name: 'survival', group: 'Game', players: 7, motd: '§6§lSurvival §r§7season 4\n§a▶ §fplay.example.org §8| §b1.21.11' },
  {
    name: 'creative',
    group: 'Game',
    players: 12,
    scenario: 'lagging',
    software: 'paper',
    motd: '§d✿ §5Creative §d✿ §7plots for everyone',
  },
  { name: 'lobby', group: 'Network', players: 2, scenario: 'frozen', motd: '§x§f§f§7§a§0§0Lobby §7of the network' },
  { name: 'minigames', group: 'Network', players: 4, scenario: 'hung', motd: '§eMinigames' },
  { name: 'archive', group: 'Network', players: 3, scenario: 'steady', motd: '§7Old worlds' },
  { name: 'skyblock', group: 'Game', players: 0, scenario: 'paused', motd: '§bSkyblock §7– islands in the §fsky' },
] as const

export type DemoName = (typeof specs)[number]['name']

export interface DemoFleet {
  readonly servers: Readonly<Record<DemoName, DemoServer>>
  readonly url: string
  readonly app: App
  /** Closes only the service, and starts it again on the same port. */
  stopService(): Promise<void>
  startService(): Promise<void>
  close(): Promise<void>
}

/** The whole service watching six demo servers: normal, lagging, frozen, hung, one that is closed (`archive`), and paused. */
export async function startDemoFleet(env: Readonly<Record<string, string>> = {}): Promise<DemoFleet> {
  const demos = await Promise.all(
    specs.map(async ({ name, group, ...options }, index) => {
      const server = await startDemoServer({ seed: index + 1, ports: await freeDemoPorts(), ...options })
      return { name, server, settings: { ...demoSettings(server, name), group } }
    }),
  )
  const config = loadConfig({ env: { POLL_INTERVAL: '500ms', ...env } })
  const servers = Object.fromEntries(demos.map(({ name, server }) => [name, server])) as Record<DemoName, DemoServer>

  async function open(port: number) {
    const options = { clock: systemClock, log: silentLog, createSources, poll: config.poll }
    const fleet = createFleet({ servers: demos.map(({ settings }) => settings), ...options })
    const app = await buildApp({ config, fleet, logger: pino({ level: 'silent' }) })
    const url = await app.listen({ host: '127.0.0.1', port })
    fleet.start()
    return { fleet, app, url }
  }

  let service: Awaited<ReturnType<typeof open>> | undefined = await open(Number(env.PORT ?? (await freePort())))
  const { url, app } = service
  const stopService = async () => {
    service?.fleet.close()
    await service?.app.close()
    service = undefined
  }
  return {
    servers,
    url,
    app,
    stopService,
    async startService() {
      service = await open(Number(new URL(url).port))
    },
    async close() {
      await stopService()
      await Promise.all(demos.map(({ server }) => server.close()))
    },
  }
}
