import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBedrockDemoServer } from '../../src/demo/bedrock.ts'
import { startDemoServer } from '../../src/demo/demo-server.ts'
import { systemClock } from '../../src/util/clock.ts'
import { freePort } from '../helpers/run-tool.ts'

/** The servers and folders for the addresses and paths of the pages while their commands run. */
export interface ExampleServers {
  /** A folder with `secrets` and the folder of a game server. */
  readonly folder: string
  /** Addresses and paths of the pages with their replacements, the longest first. */
  readonly substitutions: readonly (readonly [shown: string | RegExp, used: string])[]
  close(): Promise<void>
}

/** A demo server for `mc.example.org`, and a Bedrock server for `lobby.example.org`. */
export async function startExampleServers(): Promise<ExampleServers> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-docs-'))
  const port = await freePort()
  const demo = await startDemoServer({ ports: { status: port, query: port } })
  const lobby = await startBedrockDemoServer({ host: '127.0.0.1', port: 0, players: 3, seed: 1, clock: systemClock })
  const { rcon, management } = demo
  const secrets = join(folder, 'secrets')
  const directory = join(folder, 'minecraft')
  mkdirSync(secrets)
  mkdirSync(directory)
  for (const [name, text] of Object.entries({
    rcon: rcon.password,
    management: management?.secret ?? '',
    'metrics-token': 'a-long-random-token',
    'run-token': 'a-long-random-token',
    jmx: 'a-long-random-password',
  }))
    writeFileSync(join(secrets, name), `${text}\n`)
  writeFileSync(
    join(directory, 'server.properties'),
    [
      `server-port=${port}`,
      ...['enable-rcon=true', `rcon.port=${rcon.address.port}`, `rcon.password=${rcon.password}`],
      ...['enable-query=true', `query.port=${port}`],
      ...['management-server-enabled=true', 'management-server-tls-enabled=false'],
      `management-server-port=${new URL(management?.url ?? '').port}`,
      `management-server-secret=${management?.secret}`,
    ].join('\n'),
  )
  const game = `127.0.0.1:${port}`
  return {
    folder,
    substitutions: [
      ['wss://mc.example.org:25585', management?.url ?? ''],
      ['ws://127.0.0.1:25585', management?.url ?? ''],
      [/(mc\.example\.org|127\.0\.0\.1|localhost):25575/g, `127.0.0.1:${rcon.address.port}`],
      [/(mc\.example\.org|127\.0\.0\.1|localhost):25565/g, game],
      [/(mc|survival|creative)\.example\.org\b(?!:)/g, game],
      ['lobby.example.org:19132', `127.0.0.1:${lobby.address.port}`],
      ['/run/secrets', secrets],
      ['/srv/minecraft', directory],
      ['/var/lib/tickwarden', join(folder, 'data')],
      ['/etc/ssl/certs/ca-certificates.crt', join(import.meta.dirname, '..', '..', 'LICENSE')],
    ],
    async close() {
      await Promise.all([demo.close(), lobby.close()])
    },
  }
}
