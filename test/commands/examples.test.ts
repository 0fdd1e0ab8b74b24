import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { commands } from '../../src/commands/definitions/index.ts'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { formatHostPort } from '../../src/util/address.ts'
import { callProgram } from '../helpers/run-program.ts'

const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
const examples = commands.flatMap(({ name, examples, codes }) =>
  examples.map(({ line }) => ({ name, line, codes: Object.keys(codes).map(Number) })),
)
/** Programs that run until they are stopped: they are, after they have printed something. */
const lasting = ['serve', 'demo']

type Environment = Readonly<Record<string, string>>

async function callIn(folder: string, command: readonly string[], env: Environment) {
  const { code, out, err } = await callProgram(command, env, folder)
  return { code, output: out + err }
}

async function runUntilOutput(folder: string, command: readonly string[], env: Environment) {
  const child = spawn(process.execPath, [main, ...command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text
      child.kill('SIGTERM')
    })
  const [code] = await once(child, 'close')
  return { code, output }
}

describe('the examples of the help and of docs/command-line.md', () => {
  let demo: DemoServer
  beforeAll(async () => {
    demo = await startDemoServer()
  })
  afterAll(() => demo.close())

  /** A folder with what the examples name. */
  function makeFolder(name: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-examples-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'minecraft'))
    writeFileSync(join(folder, 'minecraft', 'server.properties'), 'server-port=1\n')
    writeFileSync(join(folder, 'rcon'), demo.rcon.password)
    const channel = '{ type: webhook, name: ops, url: "http://127.0.0.1:1/" }'
    const servers = `servers: [{ name: survival, address: "${formatHostPort(demo.address)}" }]`
    const config = `listen: 127.0.0.1:0\n${servers}\nnotify: { channels: [${channel}] }\n`
    // It writes this file.
    if (name !== 'init') writeFileSync(join(folder, 'tickwarden.yaml'), config)
    return folder
  }

  it.each(examples)('$line', async ({ name, line, codes }) => {
    const folder = makeFolder(name)
    const words = line
      .replace(/^eval "\$\((.*)\)"$/, '$1')
      // Without an address it looks at every port of this machine.
      .replace(/^tickwarden init$/, 'tickwarden init mc.example.org')
      .replaceAll(/(?<!bedrock:\/\/)mc\.example\.org(?::25575)?/g, (found) =>
        formatHostPort(found.endsWith(':25575') ? demo.rcon.address : demo.address),
      )
      .replaceAll('/run/secrets/rcon', join(folder, 'rcon'))
      .replaceAll('/srv/minecraft', join(folder, 'minecraft'))
      .match(/"[^"]*"|\S+/g)!
      .map((word) => word.replaceAll('"', ''))
    const start = words.indexOf('tickwarden')
    const command = words.slice(start + 1).filter((_, index, all) => !all.slice(0, index + 1).some((word) => /^[>|&]/.test(word)))
    const settings = words.slice(0, Math.max(0, start)).map((word) => word.split('=') as [string, string])
    const env = {
      ...{ PATH: process.env.PATH ?? '', HOME: folder, DATA_DIR: folder, GITHUB_API_URL: 'http://127.0.0.1:1' },
      ...{ MC_RCON: formatHostPort(demo.rcon.address), MC_RCON_PASSWORD: demo.rcon.password, POLL_TIMEOUT: '30s' },
      ...Object.fromEntries(settings),
    }
    const { code, output } = await (lasting.includes(name) ? runUntilOutput : callIn)(folder, command, env)
    expect(codes, output).toContain(code)
    expect(code, output).not.toBe(2)
  })
})
