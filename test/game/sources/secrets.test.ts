import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { buildApp } from '../../../src/app.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { SourceError } from '../../../src/game/errors.ts'
import { type Fields, fieldNames } from '../../../src/game/fields.ts'
import { createFleet } from '../../../src/game/fleet.ts'
import type { ServerSettings } from '../../../src/game/server-settings.ts'
import { createSources } from '../../../src/game/sources/create-sources.ts'
import { sources } from '../../../src/game/sources/index.ts'
import { type Reading, type SourceContext, type SourceDescriptor, settingsOf } from '../../../src/game/sources/source.ts'
import { silentLog } from '../../../src/util/log.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

/** A value of every field with this text in it. A field that is added needs a value here. */
const valuesWith = (text: string): { readonly [K in keyof Fields]: Fields[K] } => ({
  edition: 'java',
  transport: 'raknet',
  version: `1.21 ${text}`,
  protocol: 774,
  software: text,
  proxy: false,
  acceptedVersions: text,
  loader: text,
  loaderVersion: `0.${text}`,
  motd: `a ${text}\n${text}`,
  formattedMotd: `§c${text.slice(0, 3)}§l${text.slice(3)}`,
  favicon: Buffer.from(`icon ${text}`),
  playersOnline: 1,
  playersMax: 20,
  players: { players: [{ name: text }, { name: 'Steve', id: '069a79f4-44e9-4726-a5be-fca90e38aaf5' }], complete: true },
  secureChatEnforced: true,
  defaultGameMode: 'SURVIVAL',
  ip: text,
  port: 25_565,
  latency: 0.01,
  asleep: false,
  rawStatus: { version: text, playersOnline: 1 },
  tickCount: { ticks: 40, at: 900 },
  tickDurationMean: 0.01,
  tickDurationP50: 0.01,
  tickDurationP95: 0.01,
  tickDurationP99: 0.01,
  tickDurationMax: 0.01,
  tickRate: 20,
  tickRateTarget: 20,
  tickFrozen: false,
  tickSprinting: false,
  tickPaused: false,
  paperTickRates: { '1m': 20, '5m': 20, '15m': 20 },
  dimensions: [{ name: text, tickDurationMean: 0.01, tickRate: 20 }],
  worldDay: 3,
  worldTimeOfDay: 6_000,
  difficulty: text,
  viewDistance: 10,
  pauseWhenEmpty: 60,
  plugins: [text, `${text} 1.0`],
  map: text,
  levelName: text,
  worldUpgrade: { state: 'running', progress: 0.5 },
  startupDuration: 10,
  overloadWarnings: 1,
  overloadSkippedTicks: 20,
  logJoins: 1,
  logLeaves: 1,
  jvmMemoryPools: [{ name: text, usedBytes: 1 }],
  jvmGarbageCollectors: [{ name: text, collections: 1, seconds: 1 }],
  jvmThreads: 20,
})

const secret = 'Correct/horse+battery'
const encodings: readonly (readonly [string, string])[] = [
  ['as it is', secret],
  ['in upper case', secret.toUpperCase()],
  ['percent-encoded', encodeURIComponent(secret)],
  ['in base64 with a user name', Buffer.from(`watcher:${secret}`).toString('base64')],
]
/** What must not be found, without regard to case. */
const traces = ['correct', 'battery', Buffer.from('horse+b').toString('base64').slice(2, 8).toLowerCase()]
const expectNoTrace = (text: string) => {
  for (const trace of traces) expect(text.toLowerCase()).not.toContain(trace)
}

const descriptors: readonly SourceDescriptor[] = sources
/** Every setting that is a secret, with the source that has it; the credentials of the proxy are given to each source. */
const given = descriptors.flatMap((source) => [
  ...Object.entries(settingsOf(source)).flatMap(([key, setting]) =>
    setting.secret ? [[source.name, key, source] as const] : [],
  ),
  [source.name, 'viaCredentials', source] as const,
])

/** A server with this secret; every other setting has a value without it. */
function serverWith(key: string, source: SourceDescriptor): ServerSettings {
  const address = { edition: 'java', host: 'other.test', port: 1 } as const
  const values = Object.fromEntries(
    Object.keys(settingsOf(source)).map((name) => [name, name === key ? secret : name === 'address' ? address : 'other']),
  )
  const credentials = key === 'viaCredentials' && {
    via: { protocol: 'socks5', host: '127.0.0.1', port: 1 } as const,
    viaCredentials: { user: 'watcher', password: secret },
  }
  return { name: 'survival', ...credentials, sources: { [source.name]: values } }
}

/** Replaces the source by one whose server repeats a text, in every field or in an error. */
function repeating(source: SourceDescriptor, text: string, fails = false) {
  let context: SourceContext | undefined
  const reading: Reading = {
    source: source.name as Reading['source'],
    at: 1_000,
    fields: valuesWith(text),
    failures: [new SourceError('malformed', `the reply is ${text}`, { cause: new Error(text) })],
  }
  const spy = vi.spyOn(source, 'create').mockImplementation((_, own) => {
    context = own
    return {
      name: reading.source,
      target: 'mc.test:1',
      async poll() {
        own.log.warn({ text, err: new Error(text) }, `not understood: ${text}`)
        if (fails) throw new SourceError('auth', `refused: ${text}`, { hint: text, cause: new Error('x', { cause: text }) })
        return reading
      },
      close() {},
    }
  })
  onTestFinished(() => spy.mockRestore())
  return { push: () => context?.push(reading) }
}

describe.each(given)('a server that repeats the secret of %s (%s)', (_, key, source) => {
  it.each(encodings)('%s: has it in no field, error, event or line of the log', async (_, text) => {
    const { push } = repeating(source, text)
    const pushed: Reading[] = []
    const log: unknown[] = []
    const clock = manualClock(1_000)
    const set = createSources(serverWith(key, source), {
      clock,
      log: { ...silentLog, warn: (...line: readonly unknown[]) => void log.push(line) },
      random: () => 0,
      push: (reading) => pushed.push(reading),
    })
    const [only] = set.list()
    const reading = await only!.poll(new AbortController().signal)
    push()
    for (const { fields, failures } of [reading, ...pushed]) {
      expectNoTrace(JSON.stringify(fields))
      expectNoTrace(failures!.map((error) => `${error.message} ${error.stack} ${String(error.cause)}`).join())
      // What has no room for the mask is missing, everything else is present.
      expect(fieldNames.filter((name) => fields[name] === undefined)).toEqual(['favicon'])
      expect(fields).toMatchObject({ version: expect.stringMatching(/^1\.21 .*\[hidden\]/), playersOnline: 1 })
    }
    expect(pushed).toHaveLength(1)
    expectNoTrace(JSON.stringify(log))
    expect(JSON.stringify(log)).toMatch(/not understood: .*\[hidden\]/)
    set.close()
  })

  it('has it in no error that is thrown', async () => {
    repeating(source, secret, true)
    const context = { clock: manualClock(1_000), log: silentLog, random: () => 0, push() {} }
    const [only] = createSources(serverWith(key, source), context).list()
    const error = (await only!.poll(new AbortController().signal).catch((thrown: unknown) => thrown)) as SourceError
    expect(error).toMatchObject({ code: 'auth', message: 'refused: [hidden]', hint: '[hidden]' })
    expectNoTrace(`${error.stack} ${String((error.cause as Error).cause)}`)
  })

  it.each([false, true])('has it on no page and in no reply, if it fails: %s', async (fails) => {
    repeating(source, secret, fails)
    const clock = manualClock(1_000)
    const poll = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }
    const fleet = createFleet({ servers: [serverWith(key, source)], poll, clock, log: silentLog, createSources })
    const app = await buildApp({ config: loadConfig({ env: {} }), fleet, clock, logger: pino({ level: 'silent' }) })
    onTestFinished(async () => {
      fleet.close()
      await app.close()
    })
    await fleet.watchers[0]!.poll()
    const paths = [
      '/',
      '/metrics',
      '/api/v1/sources',
      '/api/v1/getall',
      '/servers/survival',
      '/page/cards',
      '/probe?target=survival&debug=true',
    ]
    for (const path of paths) {
      const { body, statusCode } = await app.inject(path)
      expect(`${path} ${statusCode}`).toMatch(/ (200|503)$/)
      expectNoTrace(body)
    }
  })
})

it('masks the secrets in server.properties in what the directory provides', async () => {
  const path = mkdtempSync(join(tmpdir(), 'tickwarden-secrets-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const properties = ['rcon.password=Correct horse', 'management-server-secret=battery staple', 'level-name=battery staple']
  writeFileSync(join(path, 'server.properties'), [...properties, 'motd=Correct horse'].join('\n'))
  const clock = manualClock(1_000)
  const context = { clock, log: silentLog, random: () => 0, push() {} }
  const set = createSources({ name: 'survival', sources: { directory: { path } } }, context)
  await set.refresh?.()
  const directory = set.list().find(({ name }) => name === 'directory')
  const { fields } = await directory!.poll(new AbortController().signal)
  expect(fields).toMatchObject({ motd: '[hidden]', levelName: '[hidden]' })
  set.close()
})
