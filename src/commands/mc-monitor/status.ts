import { setTimeout as delay } from 'node:timers/promises'
import { formatHostPort, type ServerAddress } from '../../util/address.ts'
import { escapeControlsInLines as printed } from '../../util/escape-controls.ts'
import type { GoValues } from './flags.ts'
import { log, notReady, type Ping, ping } from './ping.ts'

/** Attempts until one succeeds. @throws AggregateError with the error of each */
async function retried<T>(values: GoValues, stop: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  const errors: Error[] = []
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      stop.throwIfAborted()
      errors.push(error as Error)
      if (errors.length > values.number('retry-limit')) throw new AggregateError(errors)
    }
    await delay(values.duration('retry-interval') > 0 ? values.duration('retry-interval') : 1_000, undefined, { signal: stop })
  }
}

function jsonOf(host: string, port: number, { version, online, max, fields }: Ping): string {
  const sample = fields.players?.players.map(({ name, id }) => ({ name, id: id ?? '' })) ?? []
  const style = { bold: false, italic: false, underlined: false, strikethrough: false, obfuscated: false }
  return JSON.stringify({
    host,
    port,
    server_info: {
      version: { name: version, protocol: fields.protocol ?? 0 },
      players: { max, online, Sample: sample },
      description: { text: fields.formattedMotd ?? fields.motd ?? '', ...style, color: '', extra: null },
      favicon: fields.favicon === undefined ? '' : `data:image/png;base64,${fields.favicon.toString('base64')}`,
    },
  })
}

export async function runJavaStatus(values: GoValues, stop: AbortSignal): Promise<number> {
  const [host, port] = [values.text('host'), values.number('port')]
  const address: ServerAddress = { edition: 'java', host: host || 'localhost', port }
  const proxyProtocol = values.isSet('use-proxy') ? (values.number('proxy-version') === 2 ? 'v2' : 'v1') : undefined
  const isOld = values.isSet('use-old-server-list-ping')
  const isLegacy = isOld || values.isSet('use-server-list-ping') || values.isSet('use-mc-utils')
  const timeoutMs = values.duration('timeout') > 0 ? values.duration('timeout') : 15_000
  try {
    const result = await retried(values, stop, async () => {
      const result = await ping(address, { timeoutMs, ...(proxyProtocol && { proxyProtocol }) }, stop)
      if (result.max === 0 && !values.isSet('skip-readiness-check')) {
        if (!isLegacy) process.stderr.write(printed(`${notReady} ${host}:${port}`))
        throw new Error(notReady)
      }
      return result
    })
    const { version, online, max, fields } = result
    if (values.isSet('json') && !isLegacy) process.stdout.write(`${jsonOf(host, port, result)}\n`)
    else if (values.isSet('show-player-count')) process.stdout.write(`${online}\n`)
    else {
      const versionText = isOld ? '' : `version=${version} `
      const motd = fields.formattedMotd ?? fields.motd ?? ''
      process.stdout.write(`${printed(`${host}:${port} : ${versionText}online=${online} max=${max} motd='${motd}'`)}\n`)
    }
    return 0
  } catch (error) {
    const errors = error instanceof AggregateError ? (error.errors as Error[]) : [error as Error]
    const reason = isLegacy
      ? `All attempts fail:${errors.map(({ message }, index) => `\n#${index + 1}: ${printed(message)}`).join('')}`
      : printed(errors.at(-1)?.message ?? '')
    process.stderr.write(printed(`failed to ping ${host}:${port} : ${reason}`))
    return 1
  }
}

/** Milliseconds of one attempt; mc-monitor has no flag for it. */
const bedrockTimeoutMs = 5_000

export async function runBedrockStatus(values: GoValues, stop: AbortSignal): Promise<number> {
  const [host, port] = [values.text('host'), values.number('port')]
  const address: ServerAddress = { edition: 'bedrock', host: host || 'localhost', port }
  const shown = formatHostPort({ host, port })
  try {
    const { version, online, max } = await retried(values, stop, () => ping(address, { timeoutMs: bedrockTimeoutMs }, stop))
    process.stdout.write(printed(`${shown} : version=${version} online=${online} max=${max}`))
    return 0
  } catch (error) {
    const last = error instanceof AggregateError ? (error.errors as Error[]).at(-1) : (error as Error)
    const reason = `failed to query bedrock server ${shown}: ${last?.message}`
    log('Failed to ping Bedrock server', { error: reason }, 'FATAL')
    return 1
  }
}
