import { readFields } from '../../library/read-status.ts'
import type { ServerAddress } from '../../util/address.ts'

export type Ping = Awaited<ReturnType<typeof ping>>

/** Reads a server as mc-monitor does: a missing count is 0 for Java and -1 for Bedrock. @throws SourceError */
export async function ping(
  address: ServerAddress,
  { timeoutMs, ...options }: { readonly timeoutMs: number; readonly proxyProtocol?: 'v1' | 'v2' },
  stop: AbortSignal,
) {
  const started = performance.now()
  const settings = address.edition === 'java' ? { address, ...options } : { address }
  const fields = await readFields(settings, Math.max(timeoutMs, 1), stop, { isProbe: true })
  /** Seconds. */
  const responseTime = (performance.now() - started) / 1_000
  const missing = address.edition === 'bedrock' ? -1 : 0
  const {
    version = fields.version ?? '',
    playersOnline: online = missing,
    playersMax: max = missing,
  } = fields.rawStatus ?? fields
  return { version, online, max, responseTime, fields }
}

/** A Java server that is starting has no slots. */
export const notReady = 'server not ready'

/** Prints a line as mc-monitor's logger writes it: JSON with a space after each colon and comma. */
export function log(
  message: string,
  values: Readonly<Record<string, string | readonly string[]>>,
  level: 'INFO' | 'ERROR' | 'FATAL' = 'INFO',
): void {
  const text = (value: string | readonly string[]) =>
    typeof value === 'string' ? JSON.stringify(value) : `[${value.map((one) => JSON.stringify(one)).join(', ')}]`
  const pairs = Object.entries(values).map(([key, value]) => `${JSON.stringify(key)}: ${text(value)}`)
  process.stdout.write(`${new Date().toISOString()}\t${level}\t${message}\t{${pairs.join(', ')}}\n`)
}
