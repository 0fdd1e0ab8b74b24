import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { type ServiceProcess, shareServers, startService } from '../helpers/replica-process.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { freeDemoPorts, freePort, runTool } from '../helpers/run-tool.ts'
import { until } from '../helpers/until.ts'
import { type PrometheusServer, ruleFile, startPrometheus } from './prometheus-server.ts'

const root = join(import.meta.dirname, '..', '..')

/** The rules with seconds instead of minutes. An alert keeps firing for longer than a replica takes to take over. */
function writeRules(folder: string): string {
  const path = join(folder, 'tickwarden.rules.yaml')
  const text = readFileSync(ruleFile, 'utf8')
    .replaceAll(/ for: \d+m$/gm, ' for: 3s')
    .replaceAll(/keep_firing_for: \d+m$/gm, 'keep_firing_for: 12s')
  writeFileSync(path, text)
  return path
}

interface Message {
  readonly status: string
  readonly alerts: readonly { readonly status: string; readonly labels: Readonly<Record<string, string>> }[]
}

/** Alertmanager with the route of the example, which sends its messages to the test at once. */
async function startAlertmanager(folder: string) {
  const messages: Message[] = []
  const receiver = createServer(async (request, reply) => {
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk as Buffer)
    messages.push(JSON.parse(Buffer.concat(body).toString()) as Message)
    reply.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  onTestFinished(() => void receiver.close())
  const example = parse(readFileSync(join(root, 'grafana', 'alertmanager', 'alertmanager.yaml'), 'utf8')) as Record<
    string,
    object
  >
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const config = {
    ...example,
    route: { ...example.route, receiver: 'test', group_wait: '1s', group_interval: '1s', routes: [] },
    receivers: [{ name: 'test', webhook_configs: [{ url, send_resolved: true }] }],
  }
  const file = join(folder, 'alertmanager.yaml')
  writeFileSync(file, stringify(config))
  const port = await freePort()
  const args = [`--config.file=${file}`, `--storage.path=${join(folder, 'alertmanager')}`, '--cluster.listen-address=']
  const tool = await runTool('prometheus-alertmanager', [...args, `--web.listen-address=127.0.0.1:${port}`], port)
  onTestFinished(() => tool[Symbol.asyncDispose]())
  /** What was told, in order: `firing ServerDown dead`. */
  const told = () =>
    messages.flatMap(({ alerts }) =>
      alerts.map(
        ({ status, labels: { alertname, server = '', instance = '' } }) => `${status} ${alertname} ${server || instance}`,
      ),
    )
  return { address: `127.0.0.1:${port}`, told }
}

const entry = (name: string, { address, rcon, management }: DemoServer) => ({
  name,
  address: `${address.host}:${address.port}`,
  rcon: { address: `${rcon.address.host}:${rcon.address.port}`, password: rcon.password },
  ...(management && { management: { url: management.url, secret: management.secret } }),
})

describe.skipIf(!hasTool('prometheus') || !hasTool('prometheus-alertmanager') || !hasTool('redis-server'))(
  'two replicas under a real Prometheus and Alertmanager',
  () => {
    it('tell nothing again of what was and stays bad when one is killed and comes back', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tickwarden-failover-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const [redis, dead, lagging] = await Promise.all([
        startRedis(),
        startDemoServer({ scenario: 'lagging', ports: await freeDemoPorts() }),
        startDemoServer({ scenario: 'lagging', seed: 2 }),
      ])
      onTestFinished(async () => void (await Promise.all([dead.close(), lagging.close()])))
      const protocols = ['status', 'rcon', 'management'] as const
      await Promise.all(protocols.map((protocol) => dead.interrupt(protocol)))
      const config = stringify({ servers: [entry('dead', dead), entry('lagging', lagging)] })
      const ports = [await freePort(), await freePort()]
      const startReplica = (index: number): Promise<ServiceProcess> =>
        startService(`replica ${index}`, config, {
          PORT: String(ports[index]),
          STATE_URL: redis.url,
          STATE_HEARTBEAT: '500ms',
          POLL_INTERVAL: '1s',
          // Long: on a busy machine a poll may take a second.
          POLL_TIMEOUT: '5s',
        })
      const [alertmanager, ...replicas] = await Promise.all([startAlertmanager(folder), startReplica(0), startReplica(1)])
      const prometheus: PrometheusServer = await startPrometheus({
        global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
        rule_files: [writeRules(folder)],
        alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager.address] }] }] },
        scrape_configs: [{ job_name: 'tickwarden', static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`) }] }],
      })
      onTestFinished(() => prometheus.stop())
      const { told } = alertmanager
      const aboutServers = () => told().filter((line) => !/ (?:ReplicaDown|TickwardenDown) /.test(line))
      const reporters = async () => new Set((await prometheus.query('minecraft_up')).map(({ metric }) => metric.instance))

      await expect.poll(() => aboutServers().toSorted()).toEqual(['firing ServerDown dead', 'firing ServerLagging lagging'])
      const [before, all] = [aboutServers(), told()]
      // On a busy machine, some scrapes may have failed.
      const [ofStart] = await prometheus.query('min(min_over_time(up[10m]))')
      expect(ofStart?.value[1]).toMatch(/^[01]$/)
      if (ofStart?.value[1] === '1') expect(all).toEqual(before)

      // The replica that reports the server that is down.
      const [{ metric: owner } = { metric: {} as Record<string, string> }] = await prometheus.query('minecraft_up{server="dead"}')
      const killed = ports.findIndex((port) => owner.instance === `127.0.0.1:${port}`)
      // Not what was told of it before.
      const count = told().length
      replicas[killed]!.child.kill('SIGKILL')
      await replicas[killed]!.exit
      const other = `127.0.0.1:${ports[1 - killed]}`
      await expect.poll(reporters).toEqual(new Set([other]))
      await expect.poll(() => told().slice(count)).toContain(`firing ReplicaDown ${owner.instance}`)
      const both = [await startReplica(killed), replicas[1 - killed]!]
      await until(() => shareServers(both, 2))
      // Longer than an alert keeps firing without its cause: one that had ended in between would be told as resolved.
      const since = Date.now() / 1000
      await expect.poll(() => told().slice(count)).toContain(`resolved ReplicaDown ${owner.instance}`)
      await expect
        .poll(async () => (await prometheus.query(`min_over_time(up[15s]) == 1 and timestamp(up) > ${since + 15}`)).length)
        .toBe(2)
      expect(aboutServers()).toEqual(before)

      // The server comes back, but lags.
      await Promise.all(protocols.map((protocol) => dead.resume(protocol)))
      await expect.poll(told).toContain('firing ServerLagging dead')
      expect(
        aboutServers()
          .slice(before.length)
          .filter((line) => line.startsWith('firing')),
      ).toEqual(['firing ServerLagging dead'])
      // On a busy machine, all scrapes may have failed at the same time.
      const [scraped] = await prometheus.query('min_over_time(max(up)[10m:1s])')
      expect(scraped?.value[1]).toMatch(/^[01]$/)
      if (scraped?.value[1] === '1') expect(told().filter((line) => line.includes('TickwardenDown'))).toEqual([])
    })
  },
)
