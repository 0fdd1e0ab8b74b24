import { once } from 'node:events'
import { startBedrockDemoServer } from '../demo/bedrock.ts'
import { type DemoProtocol, type DemoServer, demoSettings, startDemoServer } from '../demo/demo-server.ts'
import { scenarios } from '../demo/scenarios.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import { formatServerAddress } from '../util/address.ts'
import { systemClock } from '../util/clock.ts'
import { commandName } from '../util/package.ts'
import type { DemoCommandOptions } from './demo-options.ts'
import { throwListenError } from './listen.ts'

/** The settings of one source for copying; undefined if the demo server does not support its protocol. */
function copied(descriptor: SourceDescriptor, demo: DemoServer) {
  const { sources } = demoSettings(demo, 'demo')
  const values = (sources as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>)[descriptor.name]
  const set = Object.entries(settingsOf(descriptor)).flatMap(([key, { env, kind }]) => {
    const value = values?.[key]
    return value === undefined ? [] : [{ key, env, text: kind.format?.(value) ?? String(value) }]
  })
  const [main, ...others] = set
  if (main === undefined) return undefined
  return {
    /** The address of a protocol, with its credentials. */
    line: [main.text, ...others.map(({ key, text }) => `${key} ${text}`)].join(', '),
    /** `MC_SERVER=127.0.0.1:25565` */
    assignments: set.map(({ env, text }) => `${env}=${text}`),
  }
}

/** The text printed at the start: addresses, and the command with which Tickwarden watches the demo server. */
function introduce(demo: DemoServer, scenario: keyof typeof scenarios): string {
  const { era, software } = demo.identity
  const network: readonly SourceDescriptor[] = sources.filter(({ network }) => network)
  const all = network.map((descriptor) => ({ name: descriptor.name, settings: copied(descriptor, demo) }))
  const width = Math.max(...all.map(({ name }) => name.length)) + 2
  return [
    `A demo Minecraft server is running: ${era.version} (${software}), ${scenarios[scenario].meaning}.`,
    '',
    ...all.map(({ name, settings }) => `  ${name.padEnd(width)}${settings?.line ?? `not in ${era.version}`}`),
    '',
    'To see it in the game, add the status address to the server list. To watch it with Tickwarden, run in another terminal:',
    '',
    `  ${all.flatMap(({ settings }) => settings?.assignments ?? []).join(' \\\n  ')} \\\n  ${commandName}`,
    '',
    'Press Ctrl+C to stop it; its passwords are then no longer valid.',
  ].join('\n')
}

/** Throws the error of a demo server that could not start, with the flag that changes the address. */
function explain(error: unknown, { host = '127.0.0.1', ports = {}, edition }: DemoCommandOptions): never {
  const { port = 0, syscall } = error as { readonly port?: number; readonly syscall?: string }
  // UDP and TCP ports are separate: the same number may be set for both.
  const datagrams = syscall === 'bind'
  const chosen = Object.keys(ports) as readonly DemoProtocol[]
  const protocol = chosen.find((name) => ports[name] === port && (name === 'query' || edition === 'bedrock') === datagrams)
  throwListenError(error, { host, port }, { host: '--listen', another: (other) => `--${protocol}-port=${other.port}` })
}

async function start(options: DemoCommandOptions): Promise<{ readonly introduction: string; close(): Promise<void> }> {
  if (options.edition !== 'bedrock') {
    const demo = await startDemoServer(options)
    return { introduction: introduce(demo, options.scenario ?? 'normal'), close: () => demo.close() }
  }
  const { host = '127.0.0.1', ports = {}, players = 5, seed = 1 } = options
  const demo = await startBedrockDemoServer({ host, port: ports.status ?? 0, players, seed, clock: systemClock })
  return { introduction: introduceBedrock(formatServerAddress(demo.address)), close: () => demo.close() }
}

const introduceBedrock = (address: string): string =>
  [
    'A demo Bedrock server is running, with status by RakNet (UDP) and NetherNet (HTTP). To watch it with Tickwarden, run:',
    '',
    `  MC_SERVER=${address} ${commandName}`,
    '',
    'Press Ctrl+C to stop it.',
  ].join('\n')

/**
 * `tickwarden demo`: runs a demo server alone until it is stopped.
 * @param options all optional
 * @param stop aborted when the process should end
 * @param print prints to the terminal
 * @throws UsageError for an era, software or scenario that is not valid
 * @throws ListenError if it cannot listen on an address or port
 */
export async function runDemo(options: DemoCommandOptions, stop: AbortSignal, print: (text: string) => void): Promise<void> {
  const demo = await start(options).catch((error) => explain(error, options))
  try {
    print(demo.introduction)
    if (!stop.aborted) await once(stop, 'abort')
  } finally {
    await demo.close()
  }
}
