import http from 'node:http'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Family } from '../../../exporter/families/family.ts'
import { mcMonitor } from '../../../exporter/families/mc-monitor.ts'
import { createFleetWriter } from '../../../exporter/fleet-text.ts'
import { scrapeTimeout } from '../../../exporter/probe/timeout.ts'
import { contentTypes } from '../../../exporter/text.ts'
import { formatHostPort, formatServerAddress, parseHostPort, type ServerAddress } from '../../util/address.ts'
import { RequestError, unavailable } from '../../util/errors.ts'
import { look } from '../status/look.ts'
import { measurementLine } from '../status/telegraf.ts'
import type { GoValues } from './flags.ts'
import { log, notReady, ping } from './ping.ts'

const defaultPorts = { java: 25565, bedrock: 19132 } as const
export const noServers = 'requires at least one server\n'

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

/** The same gauge with its labels in the order of mc-monitor, whose library sorts them by name. */
const sortLabels = (family: Family): Family => ({
  ...family,
  labels: family.labels.toSorted(),
  read: (snapshot, add) =>
    family.read(snapshot, (value, host = '', port = '', edition = '', version = '') => add(value, edition, host, port, version)),
})

/** Reads every server once. @returns the gauges of mc-monitor in the text format of Prometheus */
export async function pollGauges(
  addresses: readonly ServerAddress[],
  { timeoutMs: given, ...options }: { readonly timeoutMs: number; readonly proxyProtocol?: 'v1' | 'v2' },
  signal: AbortSignal,
): Promise<string> {
  const timeoutMs = Math.max(given, 1)
  const servers = new Map(addresses.map((address) => [formatServerAddress(address), address]))
  const looks = await Promise.all(
    [...servers].map(([text, address]) => look({ text, addresses: [address] }, { ...options, timeoutMs, signal })),
  )
  const settingsOf = (name: string) => {
    const address = servers.get(name)
    return address && { name, sources: { status: { address } } }
  }
  const snapshots = looks.map(({ snapshot }) => snapshot)
  const { identity, families } = mcMonitor({ settingsOf })
  const parts = createFleetWriter([], { identity, families: families.map(sortLabels) })(snapshots, 'prometheus')
  return String(Buffer.concat([...parts]))
}

/** How many collections run at once. Most clients have the same timeout, and share one. */
const maxCollections = 8

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
  const options = useProxy ? { proxyProtocol: version === 2 ? ('v2' as const) : ('v1' as const) } : {}
  /** The collections that are running, by their timeout: a longer one would end too late, a shorter one may have missed servers. */
  const running = new Map<number, Promise<string>>()
  const collect = (timeoutMs: number) => {
    const before = running.get(timeoutMs)
    if (before !== undefined) return before
    if (running.size >= maxCollections) throw unavailable('BUSY', 'Too many scrapes with different timeouts are running.', 10)
    const collection = pollGauges(addresses, { ...options, timeoutMs }, stop).finally(() => running.delete(timeoutMs))
    running.set(timeoutMs, collection)
    return collection
  }
  const server = http.createServer(async ({ url, headers }, response) => {
    const plain = (status: number, text: string) => response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`)
    if (url?.split('?')[0] !== '/metrics') {
      plain(404, '404 page not found')
      return
    }
    try {
      // A server that does not answer must not take so long that the scrape fails, because that would hide the others.
      const limit = scrapeTimeout(headers['x-prometheus-scrape-timeout-seconds']) ?? timeoutMs
      const text = await collect(Math.min(timeoutMs, limit))
      response.writeHead(200, { 'content-type': contentTypes.prometheus }).end(text)
    } catch (error) {
      if (error instanceof RequestError) plain(error.status, error.message)
      else response.destroy()
    }
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

/** The interval of a command, milliseconds: at least 10, because no server is to be read without a pause. */
export const intervalOf = (values: GoValues): number => Math.max(10, values.duration('interval'))

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
    await delay(intervalOf(values), undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) return 0
    const lines = await Promise.all(addresses.map(gather))
    if (stop.aborted) return 0
    await send(telegraf, `${lines.join('\n')}\n`).catch((error: Error) =>
      process.stderr.write(`failed to send metrics: ${error.message}\n`),
    )
  }
}
