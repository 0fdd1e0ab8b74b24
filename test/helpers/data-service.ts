import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { type Clock, systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'

export const lastUpdate = '2024-02-03 04:05:06 UTC'

export const comeback = (given: object = {}) => ({
  date: '2019-11-1',
  time: '18:00',
  artist: 'IU',
  title: 'Love Poem',
  types: ['mini', 'album'],
  links: ['https://example.org/1'],
  ...given,
})

export const project = (given: object = {}) => ({
  title: 'Lantern',
  description: 'Lights',
  status: 'beta',
  statuscolor: 'orange',
  categories: ['tools'],
  languages: { Java: 10 },
  gh_api: 'example/lantern',
  version: '1.0',
  backgroud: '/lantern.png',
  links: { GH: 'https://example.org/lantern' },
  visible: true,
  last_update: 1_700_000_000,
  ...given,
})

export const snapshot = (entries: readonly unknown[], head: object = { last_update: lastUpdate }): string =>
  JSON.stringify([head, ...entries])

export interface Page {
  readonly results: readonly Record<string, unknown>[]
  readonly count: number
}

export interface DataService {
  readonly url: string
  readonly folder: string
  get(path: string, init?: RequestInit): Promise<Response>
  page(path: string): Promise<Page>
  /** A reply that must be an error; its problem details. */
  problem(path: string): Promise<{ status: number; code: string; detail: string }>
  write(database: 'projects' | 'kcomebacks', text: string): Promise<void>
  close(): Promise<void>
}

/** The whole service on a real port, its data in a temporary folder; undefined: that file is missing. */
export async function startDataService(
  files: { projects?: string | undefined; kcomebacks?: string | undefined },
  { clock = systemClock, env = {} }: { clock?: Clock; env?: Record<string, string> } = {},
): Promise<DataService> {
  const folder = await mkdtemp(join(tmpdir(), 'tickwarden-data-'))
  const write = (database: string, text: string) => writeFile(join(folder, `${database}.json`), text)
  for (const [database, text] of Object.entries(files)) if (text !== undefined) await write(database, text)
  const config = loadConfig({ env: { DATA_DIR: folder, ...env } })
  const fleet = createFleet({
    servers: [],
    poll: config.poll,
    clock,
    log: silentLog,
    createSources: () => {
      throw new Error('no servers here')
    },
  })
  const app = await buildApp({ config, fleet, logger: pino({ level: 'silent' }), clock })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const get = (path: string, init?: RequestInit) => fetch(url + path, init)
  return {
    url,
    folder,
    get,
    async page(path) {
      const reply = await get(path)
      if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${await reply.text()}`)
      return (await reply.json()) as Page
    },
    async problem(path) {
      const reply = await get(path)
      if (reply.headers.get('content-type') !== 'application/problem+json; charset=utf-8') {
        throw new Error(`${path}: ${reply.status} ${await reply.text()}`)
      }
      return (await reply.json()) as { status: number; code: string; detail: string }
    },
    write: (database, text) => write(database, text),
    async close() {
      await app.close()
      fleet.close()
      await rm(folder, { recursive: true })
    },
  }
}
