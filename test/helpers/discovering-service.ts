import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Service, serve } from '../../src/commands/serve.ts'
import { loadConfig } from '../../src/config/config.ts'
import { onTestFinished } from './test-end.ts'

export interface ListInApi {
  readonly provider: string
  readonly list: string
  readonly state: string
  readonly servers: number | null
  readonly refused: number
  readonly problems: readonly string[]
  readonly lastSuccess: string | null
}

export interface DiscoveringService extends Service {
  readonly folder: string
  /** Messages of the log, with their level. */
  readonly log: readonly string[]
  get(path: string): Promise<Response>
  /** The names of the watched servers, in order. */
  names(): Promise<readonly string[]>
  /** The discovery member of /api/v1/sources, which does not exist without a server. */
  lists(): Promise<readonly ListInApi[]>
}

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-discovery-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface DiscoveringOptions {
  readonly folder?: string
  /** The config file in the folder; default: none. */
  readonly yaml?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The whole service on a free port, with the servers of the settings. Connections to their addresses are refused. */
export async function startDiscovering({
  folder = temporaryFolder(),
  yaml,
  env = {},
}: DiscoveringOptions): Promise<DiscoveringService> {
  const file = join(folder, 'tickwarden.yaml')
  if (yaml !== undefined) writeFileSync(file, yaml)
  const load = () => loadConfig({ env: { PORT: '0', POLL_INTERVAL: '1h', ...env }, ...(yaml !== undefined && { file }) })
  const log: string[] = []
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line) as { readonly level: number; readonly msg: string }
    log.push(`${pino.levels.labels[level]}: ${msg}`)
  }
  const service = await serve(load(), pino({ level: 'info' }, { write }), load)
  onTestFinished(() => service.close())
  const get = (path: string) => fetch(service.url + path)
  return {
    ...service,
    folder,
    log,
    get,
    names: async () => (await (await get('/api/v1/servers')).json()) as readonly string[],
    lists: async () => ((await (await get('/api/v1/sources')).json()) as { discovery: readonly ListInApi[] }).discovery,
  }
}
