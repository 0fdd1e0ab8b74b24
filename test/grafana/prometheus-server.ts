import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { freePort } from '../helpers/run-tool.ts'
import { until } from '../helpers/until.ts'

export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

/** The project's rules. */
export const ruleFile = join(import.meta.dirname, '..', '..', 'grafana', 'alerts', 'tickwarden.rules.yaml')

/**
 * The project's rules, but with alerts that fire after seconds instead of minutes.
 * @returns the path of the file, in the folder
 */
export function writeQuickRules(folder: string): string {
  const path = join(folder, 'tickwarden.rules.yaml')
  writeFileSync(path, readFileSync(ruleFile, 'utf8').replaceAll(/for: \d+m$/gm, 'for: 2s'))
  return path
}

/** A real Prometheus, started for a test. */
export interface PrometheusServer {
  readonly url: string
  /** The result of an instant query. @throws Error with Prometheus' own message */
  query(expression: string): Promise<readonly Sample[]>
  get(path: string): Promise<unknown>
  stop(): Promise<void>
}

/**
 * Resolves when Prometheus is ready.
 * @param config the configuration file as a value
 * @param data folder with blocks; default: a new one
 */
export async function startPrometheus(config: unknown, data?: string): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-prometheus-'))
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config))
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  let output = ''
  const child: ChildProcess = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${data ?? join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk
  })
  const ended = once(child, 'close')
  await until(() => {
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}:\n${output}`)
    return fetch(`${base}/-/ready`).then(
      (reply) => reply.ok,
      () => false,
    )
  })
  const get = async (path: string) => {
    const reply = (await (await fetch(base + path)).json()) as { status: string; error?: string; data: unknown }
    if (reply.status !== 'success') throw new Error(reply.error)
    return reply.data
  }
  return {
    url: base,
    get,
    async query(expression) {
      const { result } = (await get(`/api/v1/query?query=${encodeURIComponent(expression)}`)) as { result: readonly Sample[] }
      return result
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
