import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../src/commands/serve.ts'
import { loadConfig } from '../../src/config/config.ts'
import { allSettings } from '../../src/config/settings.ts'
import { maskLines } from '../../src/secrets/masked-log.ts'

function createLog() {
  const lines: string[] = []
  return { lines, logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }) }
}

it('masks secrets in every part of a line, also of a child logger', () => {
  const { lines, logger } = createLog()
  const before = logger.child({ part: 'before' })
  let secrets = ['hunter2 "x"', 'short']
  const changed = maskLines(logger, () => secrets)
  const err = new Error('failed: hunter2 "x"', { cause: new TypeError('HUNTER2 "X"', { cause: 'hunter2 "x"' }) })
  for (const log of [logger, before, logger.child({ key: 'hunter2 "x"' })]) {
    log.error({ err, deep: [{ 'hunter2 "x"': ['hunter2 "x"'] }] }, 'a hunter2 "x" line')
  }
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    expect(line).not.toMatch(/hunter2/i)
    expect(JSON.parse(line)).toMatchObject({ msg: 'a [hidden] line', deep: [{ '[hidden]': ['[hidden]'] }] })
    expect(line.endsWith('\n')).toBe(true)
  }
  logger.info('a short word')
  expect(lines.at(-1)).toContain('a short word')
  secrets = ['another secret']
  logger.info('another secret')
  changed()
  logger.info('another secret')
  expect(lines.slice(-2).map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['another secret', '[hidden]'])
})

it('knows every secret setting of the service, also after a reload', async () => {
  const given: Record<string, string> = {
    ...Object.fromEntries(allSettings.flatMap(({ env, secret }) => (secret ? [[env, `secret-of-${env}`]] : []))),
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret-of-otlp',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-key=secret-of-metrics',
    PORT: '0',
    POLL_INTERVAL: '1h',
    MC_SERVER: '127.0.0.1:1',
    MC_VIA: 'socks5://127.0.0.1:1',
    MC_VIA_CREDENTIALS: 'user:secret-of-via',
    MC_RCON: '127.0.0.1:1',
    MC_MANAGEMENT: 'ws://127.0.0.1:1',
    MC_JMX: 'http://127.0.0.1:1/jolokia',
    MC_JMX_USER: 'watcher',
    DISCOVERY_HTTP_SD: 'http://user:secret-in-url@127.0.0.1:1/targets',
    HEADS_URL: 'https://heads.test/{uuid}?key=secret-in-heads',
  }
  // It requires a server of the shared state.
  const { STATE_PASSWORD: _, ...env } = given
  const load = (more = {}) => loadConfig({ env: { ...env, ...more } })
  const { lines, logger } = createLog()
  let next = {}
  const service = await serve(load(), logger, () => load(next))
  onTestFinished(() => service.close())
  const secrets = [
    ...Object.values(env).filter((value) => value.startsWith('secret-of-')),
    'secret-of-otlp',
    'secret-of-metrics',
    'secret-of-via',
    'secret-in-url',
    'secret-in-heads',
  ]
  expect(secrets.length).toBeGreaterThan(12)
  const shown = (text: string) => {
    logger.info(`the text is ${text}`)
    return (JSON.parse(lines.at(-1)!) as { msg: string }).msg
  }
  for (const secret of secrets) expect(shown(secret)).toBe('the text is [hidden]')
  next = { MC_RCON_PASSWORD: 'the-newer-password', RUN_TOKEN: 'the-newer-token' }
  await service.reload()
  for (const secret of ['the-newer-password', 'the-newer-token', 'secret-of-RUN_TOKEN'])
    expect(shown(secret)).toBe('the text is [hidden]')
})
