import http from 'node:http'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { familyHeader, labelText } from '../../../exporter/text.ts'
import { formatHostPort, parseHostPort, type ServerAddress } from '../../util/address.ts'
import { measurementLine } from '../status/telegraf.ts'
import type { GoValues } from './flags.ts'
import { logLine, notReady, type Ping, ping } from './ping.ts'

const defaultPorts = { java: 25565, bedrock: 19132 } as const
export const noServers = 'requires at least one server\n'

export const log = (
  message: string,
  values: Readonly<Record<string, string | readonly string[]>>,
  level: 'INFO' | 'ERROR' = 'INFO',
) => void process.stdout.write(`${logLine(level, message, values)}\n`)

/** The addresses of both lists. @throws Error that names a wrong one */
export function addressesOf(values: GoValues): readonly ServerAddress[] {
  const parse =
    (edition: ServerAddress['edition']) =>
    (text: string): ServerAddress => {
      const parsed = parseHostPort(text, defaultPorts[edition])
      if (parsed === undefined) throw new Error(`failed to process server entry '${text}': expected host or host:port`)
      return { edition, ...parsed }
    }
  return [...values.list('servers').map(parse('java')), ...values.list('bedrock-servers').map(parse('bedrock'))]
}

/** The gauges of mc-monitor by their names in OpenTelemetry, with its units there: it calls the response time `ms`, and sends seconds. */
export const gauges = {
  minecraft_status_healthy: { of: 'healthy', unit: '1', description: '1 if players can join the server, else 0' },
  minecraft_status_players_max_count: { of: 'max', unit: '1', description: 'Places for players on the server' },
  minecraft_status_players_online_count: { of: 'online', unit: '1', description: 'Players who are on the server' },
  minecraft_status_response_time: { of: 'responseTime', unit: 'ms', description: 'How long the server took to answer' },
} as const

/** A server, and what it replied; undefined if it is down. */
export interface PingedServer {
  readonly address: ServerAddress
  readonly result: Ping | undefined
}

/** What mc-monitor tells about a server: `healthy` is 1 or 0, `responseTime` is in seconds, and the others are undefined if unknown. */
export function readingOf({ address, result }: PingedServer) {
  const isReady = result !== undefined && (address.edition === 'bedrock' || result.max !== 0)
  const { online, max } = isReady ? result : {}
  return { healthy: Number(isReady), online, max, responseTime: result?.responseTime }
}

/** Reads every server once. */
export const pingAll = (
  addresses: readonly ServerAddress[],
  options: Parameters<typeof ping>[1],
  stop: AbortSignal,
): Promise<readonly PingedServer[]> =>
  Promise.all(addresses.map(async (address) => ({ address, result: await ping(address, options, stop).catch(() => undefined) })))

const labels = ['server_edition', 'server_host', 'server_port', 'server_version']

/** The gauges of mc-monitor in the text format. */
function metricsText(results: readonly PingedServer[]): string {
  const families = Object.entries(gauges).map(([metric, { of, unit, description }]) => {
    const [name, help] = unit === 'ms' ? [`${metric}_seconds`, `${description}, in seconds.`] : [metric, `${description}.`]
    const samples = results.flatMap((server) => {
      const { edition, host, port } = server.address
      const { [of]: value } = readingOf(server)
      const text = labelText(labels, [edition, host, String(port), server.result?.version ?? ''])
      return value === undefined ? [] : [`${name}{${text}} ${value}\n`]
    })
    const header = familyHeader({ name, type: 'gauge', help }, 'prometheus')
    return samples.length === 0 ? '' : header + [...new Set(samples)].sort().join('')
  })
  return families.join('')
}

/** Serves `/metrics` until it is stopped; each request reads every server. */
export async function exportForPrometheus(values: GoValues, stop: AbortSignal): Promise<number> {
  const addresses = addressesOf(values)
  if (addresses.length === 0) {
    process.stderr.write(noServers)
    return 2
  }
  const version = values.number('proxy-version')
  const useProxy = values.isSet('use-proxy')
  if (useProxy && version !== 1 && version !== 2) throw new Error('proxy version must be 1 or 2')
  const timeoutMs = values.duration('timeout') > 0 ? values.duration('timeout') : 60_000
  const options = { timeoutMs, ...(useProxy && { proxyProtocol: version === 2 ? ('v2' as const) : ('v1' as const) }) }
  const collect = () => pingAll(addresses, options, stop)
  /** One collection at a time, however many clients ask. */
  let running: ReturnType<typeof collect> | undefined
  const server = http.createServer((request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n')
      return
    }
    running ??= collect().finally(() => {
      running = undefined
    })
    void running.then((results) => {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(metricsText(results))
    })
  })
  const port = values.number('port')
  return await new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, () => {
      const { port: actual } = server.address() as net.AddressInfo
      log('exporting metrics for prometheus', { address: `:${actual}`, path: '/metrics' })
    })
    stop.addEventListener('abort', () => {
      server.close()
      server.closeAllConnections()
      resolve(0)
    })
  })
}

const maxSendMs = 10_000

/** Sends lines over one connection. */
const send = ({ host, port }: { readonly host: string; readonly port: number }, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, timeout: maxSendMs }, () => socket.end(text))
    socket.on('timeout', () => socket.destroy(new Error(`no reply within ${maxSendMs} ms`)))
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.resume()
  })

/** Milliseconds of one attempt. */
const gatherTimeoutMs = 15_000

/** Sends measurements at an interval until it is stopped. */
export async function gatherForTelegraf(values: GoValues, stop: AbortSignal): Promise<number> {
  const addresses = addressesOf(values)
  const telegraf = parseHostPort(values.text('telegraf-address'), 8094)
  if (addresses.length === 0 || telegraf === undefined) {
    process.stderr.write(addresses.length === 0 ? noServers : 'requires TelegrafAddress\n')
    return 2
  }
  log('gather\tstarting monitoring', {
    servers: addresses.map(formatHostPort),
    interval: values.text('interval'),
    telegrafAddress: formatHostPort(telegraf),
  })
  const gather = async (address: ServerAddress) => {
    const started = performance.now()
    const { host, port } = address
    const failed = (error: Error) => ({ error: error.message, responseTime: (performance.now() - started) / 1_000 })
    const result = await ping(address, { timeoutMs: gatherTimeoutMs }, stop).catch(failed)
    const measured = 'max' in result && result.max === 0 ? failed(new Error(notReady)) : result
    return measurementLine({ host, port, ...measured }, Date.now())
  }
  for (;;) {
    await delay(Math.max(10, values.duration('interval')), undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) return 0
    const lines = await Promise.all(addresses.map(gather))
    if (stop.aborted) return 0
    await send(telegraf, `${lines.join('\n')}\n`).catch((error: Error) =>
      process.stderr.write(`failed to send metrics: ${error.message}\n`),
    )
  }
}
