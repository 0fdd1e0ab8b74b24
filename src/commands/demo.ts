import { once } from 'node:events'
import { scenarios } from '../game/demo/scenarios.ts'
import { type DemoOptions, type DemoProtocol, type DemoServer, demoSettings, startDemoServer } from '../game/demo/server.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import { toListenError } from './listen.ts'

interface Copied {
  /** Where a source reads, with what it needs there. */
  readonly line: string
  /** `MC_SERVER=127.0.0.1:25565` */
  readonly assignments: readonly string[]
}

/** The settings of one source as a person would copy them; undefined where the demo server does not speak its protocol. */
function copied(descriptor: SourceDescriptor, demo: DemoServer): Copied | undefined {
  const { sources } = demoSettings(demo, 'demo')
  const values = (sources as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>)[descriptor.name]
  const set = Object.entries(settingsOf(descriptor)).flatMap(([key, { env, kind }]) => {
    const value = values?.[key]
    return value === undefined ? [] : [{ key, env, text: kind.format?.(value) ?? String(value) }]
  })
  const [main, ...others] = set
  if (main === undefined) return undefined
  return {
    line: [main.text, ...others.map(({ key, text }) => `${key} ${text}`)].join(', '),
    assignments: set.map(({ env, text }) => `${env}=${text}`),
  }
}

/** What a person who tries the demo wants to copy: where everything is, and the settings with which Tickwarden watches it. */
function introduce(demo: DemoServer, scenario: keyof typeof scenarios): string {
  const { era, software } = demo.identity
  const network: readonly SourceDescriptor[] = sources.filter(({ network }) => network)
  const all = network.map((descriptor) => ({ name: descriptor.name, settings: copied(descriptor, demo) }))
  const width = Math.max(...all.map(({ name }) => name.length)) + 2
  return [
    `A demo Minecraft server is running: ${era.version} (${software}), ${scenarios[scenario].meaning}.`,
    '',
    ...all.map(({ name, settings }) => `  ${name.padEnd(width)}${settings?.line ?? `none in ${era.version}`}`),
    '',
    'To see it in the game, add the address of its status to the server list. To watch it with Tickwarden, in another terminal:',
    '',
    `  ${all.flatMap(({ settings }) => settings?.assignments ?? []).join(' \\\n  ')} \\\n  npx tickwarden`,
    '',
    'It is gone, with its passwords, when you press Ctrl+C.',
  ].join('\n')
}

/** Why the demo server could not start, with the flag that chooses another address. */
function explain(error: unknown, { host = '127.0.0.1', ports = {} }: DemoOptions): unknown {
  const { port = 0, syscall } = error as { readonly port?: number; readonly syscall?: string }
  // UDP and TCP have ports of their own: the same number may be chosen for both.
  const datagrams = syscall === 'bind'
  const chosen = Object.keys(ports) as readonly DemoProtocol[]
  const protocol = chosen.find((name) => ports[name] === port && (name === 'query') === datagrams)
  return toListenError(error, { host, port }, { host: '--listen', another: (other) => `--${protocol}-port=${other.port}` })
}

/**
 * `tickwarden demo`: runs a demo server alone until it is stopped.
 * @param options as typed; every one may be left out
 * @param stop aborted when the process is asked to end
 * @param print takes the lines for the person who started it
 * @throws UsageError that says what is expected, for an era, software, scenario or number of players that does not fit
 * @throws ListenError when a port or address cannot be had
 */
export async function runDemo(options: DemoOptions, stop: AbortSignal, print: (text: string) => void): Promise<void> {
  const demo = await startDemoServer(options).catch((error) => {
    throw explain(error, options)
  })
  try {
    print(introduce(demo, options.scenario ?? 'normal'))
    if (!stop.aborted) await once(stop, 'abort')
  } finally {
    await demo.close()
  }
}
