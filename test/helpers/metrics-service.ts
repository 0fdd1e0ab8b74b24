import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type ExporterOptions, registerExporter } from '../../exporter/register.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Fleet } from '../../src/game/fleet.ts'
import { createHttpApp } from '../../src/http/app.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLogger } from './scripted-fleet.ts'

export interface MetricsService {
  readonly url: string
  get(path: string, headers?: Record<string, string>): Promise<Response>
  text(path?: string, headers?: Record<string, string>): Promise<string>
  close(): Promise<void>
}

/** The exporter of a fleet on a real port. */
export async function startMetricsService(
  fleet: Fleet,
  { env = {}, ...options }: Partial<ExporterOptions> & { env?: Record<string, string> } = {},
): Promise<MetricsService> {
  const app = createHttpApp({ logger: silentLogger, corsOrigin: '*' })
  registerExporter(app as unknown as FastifyInstance, {
    fleet,
    config: loadConfig({ env }),
    clock: systemClock,
    ...options,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers })
  return {
    url,
    get,
    text: async (path = '/metrics', headers = {}) => (await get(path, headers)).text(),
    async close() {
      await app.close()
      fleet.close()
    },
  }
}

export interface Series {
  readonly name: string
  /** As written: `{server="a"}`, or ''. */
  readonly labels: string
  readonly value: number
}

/** The samples of an exposition. @throws Error for any other line */
export function parseSamples(text: string): readonly Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const match = /^([a-z_][a-z0-9_]*)(\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)*\})? (\S+)$/i.exec(line)
      if (match === null) throw new Error(`not a sample: ${line}`)
      return { name: match[1]!, labels: match[2] ?? '', value: Number(match[3]!.replace('Inf', 'Infinity')) }
    })
}

/** The part about watched servers: every line of a `minecraft_` family. */
export const serverPart = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /^(# (HELP|TYPE) )?minecraft_/.test(line))
    .map((line) => `${line}\n`)
    .join('')
