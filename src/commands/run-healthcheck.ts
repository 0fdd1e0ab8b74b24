import { once } from 'node:events'
import http from 'node:http'
import { duration } from '../settings/kinds/index.ts'
import { formatHostPort } from '../util/address.ts'
import { type Call, flagValue } from './command.ts'
import { configOf } from './load-config.ts'

/** Addresses to listen on, not to connect to. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * `tickwarden healthcheck`: whether the service of the same settings, or a server, is healthy.
 * @returns 0 if it is, otherwise 1 after one line on the standard error
 * @throws UsageError
 */
export async function runHealthcheck(call: Call): Promise<number> {
  const timeoutMs = flagValue(call, 'timeout', duration('50ms', '10m'))
  if (call.args.length > 0) {
    const { runStatus } = await import('./status/run-status.ts')
    const command = call.commands.find(({ name }) => name === 'status') ?? call.command
    const ignored = { write: () => true }
    const flags = { ...call.flags, players: true as const }
    return await runStatus({ ...call, command, flags }, { stdout: ignored, stderr: process.stderr })
  }
  const config = configOf(call, { watches: false })
  const path = `${config.http.basePath.replace(/\/$/, '')}${call.flags.ready ? '/readyz' : '/healthz'}`
  const host = reachable[config.host] ?? config.host
  const url = `http://${formatHostPort({ host, port: config.port })}${path}`
  const signal = AbortSignal.any([call.stop, AbortSignal.timeout(timeoutMs)])
  try {
    const request = http.get({ host, port: config.port, path, signal, agent: false })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    // The status is enough.
    request.on('error', () => {})
    response.resume()
    if (response.statusCode === 200) return 0
    console.error(`${url} is not healthy: it answers ${response.statusCode}`)
  } catch (error) {
    call.stop.throwIfAborted()
    const { name, message } = error as Error
    console.error(`${url} is not healthy: ${name === 'AbortError' ? `no reply within ${timeoutMs} ms` : message}`)
  }
  return 1
}
