import type { AddressInfo } from 'node:net'
import pino from 'pino'
import type { DemoServer } from '../../src/demo/demo-server.ts'
import { built } from '../built.ts'

// A separate process, so that only probing and polling are measured: the exporter, with requests of /probe over HTTP, and a
// watcher.
const { createFleet } = await built<typeof import('../../src/game/fleet.ts')>('game/fleet.js')
const { createSources } = await built<typeof import('../../src/game/sources/create-sources.ts')>('game/sources/create-sources.js')
const { createHttpApp } = await built<typeof import('../../src/http/app.ts')>('http/app.js')
const { registerExporter } = await built<typeof import('../../exporter/register.ts')>('../exporter/register.js')
const { loadConfig } = await built<typeof import('../../src/config/config.ts')>('config/config.js')
const { systemClock } = await built<typeof import('../../src/util/clock.ts')>('util/clock.js')
const { silentLog } = await built<typeof import('../../src/util/log.ts')>('util/log.js')

export type ProberRequest =
  | { readonly watch: Pick<DemoServer, 'address'>['address'] }
  /** How many polls, one after the other. */
  | { readonly polls: number }
  | { readonly cpu: true }

export interface ProberReply {
  readonly port?: number
  /** CPU time of this process so far, microseconds. */
  readonly cpu: number
}

const cpu = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}
let poll: () => Promise<unknown> = () => Promise.reject(new Error('no server is watched'))

process.on('message', async (request: ProberRequest) => {
  let port: number | undefined
  if ('watch' in request) {
    const config = loadConfig({ env: {} })
    const fleet = createFleet({
      servers: [{ name: 'bench', sources: { status: { address: request.watch } } }],
      poll: config.poll,
      clock: systemClock,
      log: silentLog,
      createSources,
    })
    const app = createHttpApp({ logger: pino({ level: 'silent' }), corsOrigin: '*' })
    registerExporter(app as unknown as Parameters<typeof registerExporter>[0], { fleet, config, clock: systemClock })
    await app.listen({ host: '127.0.0.1', port: 0 })
    port = (app.server.address() as AddressInfo).port
    poll = () => fleet.watchers[0]?.poll() ?? Promise.reject(new Error('no watcher'))
  }
  if ('polls' in request) for (let count = 0; count < request.polls; count++) await poll()
  process.send?.({ cpu: cpu(), ...(port !== undefined && { port }) } satisfies ProberReply)
})
process.on('disconnect', () => process.exit())
