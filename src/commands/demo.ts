import { once } from 'node:events'
import { scenarios } from '../game/demo/scenarios.ts'
import { type DemoOptions, type DemoProtocol, type DemoServer, startDemoServer } from '../game/demo/server.ts'
import { formatHostPort } from '../game/protocol/address.ts'
import { toListenError } from './listen.ts'

/** What a person who tries the demo wants to copy: where everything is, and how Tickwarden is pointed at it. */
function introduce({ address, rcon, query, management, identity }: DemoServer, scenario: keyof typeof scenarios): string {
  const { era, software } = identity
  const settings = {
    MC_SERVER: formatHostPort(address),
    MC_RCON: formatHostPort(rcon.address),
    MC_RCON_PASSWORD: rcon.password,
    MC_QUERY: formatHostPort(query),
    ...(management && { MC_MANAGEMENT: management.url, MC_MANAGEMENT_SECRET: management.secret }),
  }
  return [
    `A demo Minecraft server is running: ${era.version} (${software}), ${scenarios[scenario].meaning}.`,
    '',
    `  status      ${settings.MC_SERVER} (add it to the server list of the game)`,
    `  RCON        ${settings.MC_RCON}, password ${rcon.password}`,
    `  query       ${settings.MC_QUERY} (UDP)`,
    management
      ? `  management  ${management.url}, secret ${management.secret}`
      : `  management  none: ${era.version} is older than 1.21.9`,
    '',
    'To watch it with Tickwarden, in another terminal:',
    '',
    `  ${Object.entries(settings)
      .map(([name, value]) => `${name}=${value}`)
      .join(' \\\n  ')} \\\n  npx tickwarden`,
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
 * @throws RangeError that says what is expected, for an era, software, scenario or number of players that does not fit
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
