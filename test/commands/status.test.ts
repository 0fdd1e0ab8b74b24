import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Call } from '../../src/commands/command.ts'
import { findCommand } from '../../src/commands/definitions/index.ts'
import { parseArguments } from '../../src/commands/parse-arguments.ts'
import { runStatus } from '../../src/commands/status/run-status.ts'
import { startBedrockDemoServer } from '../../src/demo/bedrock.ts'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { formatHostPort } from '../../src/util/address.ts'
import { hostile, hostileServer } from '../helpers/hostile-servers.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { encodeStatus } from '../helpers/status-packets.ts'

const main = join(import.meta.dirname, '../../dist/src/main.js')

const status = findCommand('status')!

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function run(
  args: readonly string[],
  { colors, stop, written }: { colors?: number; stop?: AbortSignal; written?: () => void } = {},
): Promise<Ran> {
  const call: Call = {
    ...(await parseArguments(status, args)),
    ...{ command: status, commands: [] },
    stop: stop ?? new AbortController().signal,
  }
  let [out, err] = ['', '']
  const terminal = colors === undefined ? {} : { isTTY: true as const, getColorDepth: () => colors, columns: 100 }
  const code = await runStatus(call, {
    stdout: {
      write(text: string | Uint8Array) {
        out += text
        written?.()
        return true
      },
      ...terminal,
    },
    stderr: {
      write(text: string | Uint8Array) {
        err += text
        return true
      },
    },
  })
  return { code, out, err }
}

let demo: DemoServer
let old: DemoServer
let java = ''
beforeAll(async () => {
  demo = await startDemoServer({ motd: '§aGreen §lbold', rconPassword: 'swordfish' })
  old = await startDemoServer({ era: '1.12.2' })
  java = formatHostPort(demo.address)
})
afterAll(async () => {
  await demo.close()
  await old.close()
})

describe('tickwarden status', () => {
  it('prints a card without colours into a pipe, and with colours and the icon on a terminal', async () => {
    const plain = await run([java])
    expect(plain).toMatchObject({ code: 0, err: '' })
    expect(plain.out).toMatch(/^127\.0\.0\.1:\d+ up\n {2}Green bold\n {2}players {2}5 of 20: /)
    expect(plain.out).not.toContain('\x1b')
    const coloured = await run([java], { colors: 24 })
    expect(coloured.out).toContain('\x1b[38;2;85;255;85m')
    expect(coloured.out).toContain('▀')
    expect((await run([java], { colors: 1 })).out).not.toContain('\x1b')
  })

  it('prints one JSON object per line, for every edition', async () => {
    await using none = await hostileServer((socket) => void socket.destroy())
    // While the time of their world stands still, nobody joins or leaves.
    const clock = manualClock()
    const still = await startDemoServer({ motd: '§aGreen §lbold', clock })
    const bedrock = await startBedrockDemoServer({ host: '127.0.0.1', port: 0, players: 3, seed: 1, clock })
    try {
      const bedrockAddress = formatHostPort(bedrock.address)
      const addresses = [
        formatHostPort(still.address),
        formatHostPort(old.address),
        bedrockAddress,
        `bedrock://${bedrockAddress}`,
        `127.0.0.1:${none.port}`,
      ]
      const { code, out } = await run(['--json', '--timeout', '20s', ...addresses])
      const all = new Map(
        out
          .trim()
          .split('\n')
          .map((line) => [JSON.parse(line).address, JSON.parse(line)]),
      )
      expect(code).toBe(1)
      expect(addresses.map((address) => all.get(address))).toMatchObject([
        { up: true, online: 5, max: 20, version: '1.21.11', motd: 'Green bold', players: null, error: null },
        { up: true, version: '1.12.2', error: null },
        { up: true, online: 3, error: null },
        { up: true, online: 3, error: null },
        { up: false, online: null, latency: null, error: 'closed', message: expect.any(String) },
      ])
    } finally {
      await Promise.all([bedrock.close(), still.close()])
    }
  })

  it('reads the other sources that are given', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tickwarden-status-')), 'password')
    writeFileSync(file, 'swordfish\n')
    const rcon = formatHostPort(demo.rcon.address)
    const { code, out } = await run(['--json', java, '--rcon', rcon, '--rcon-password-file', file, '--timeout', '20s'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ up: true, tickTimeMean: expect.any(Number), players: expect.any(Array) })
    await expect(run([java, '--rcon-password', 'x'])).rejects.toThrow('set MC_RCON_PASSWORD')
  })

  it('prints the count, metrics and the line protocol, and writes files as a whole and into pipes', async () => {
    expect((await run(['--players', java])).out).toMatch(/^\d+\n$/)
    expect((await run(['--telegraf', java])).out).toMatch(
      /^minecraft_status,host=127\.0\.0\.1,port=\d+,status=success,version=1\.21\.11 response_time=[\d.]+,online=\d+i,max=20i \d{19}\n$/,
    )
    const output = join(mkdtempSync(join(tmpdir(), 'tickwarden-status-')), 'minecraft.prom')
    const { code, out } = await run(['--prometheus', '--output', output, java, '127.0.0.1:1', '--timeout', '20s'])
    expect([code, out]).toEqual([1, ''])
    const nowhere = join(output, 'none')
    await expect(run(['--prometheus', '--output', nowhere, java])).rejects.toThrow(
      `--output: ${nowhere} cannot be written (ENOTDIR)`,
    )
    const text = readFileSync(output, 'utf8')
    expect(text).toContain(`minecraft_up{server="${java}"} 1\nminecraft_up{server="127.0.0.1:1"} 0\n`)
    const pipe = `${output}.pipe`
    execFileSync('mkfifo', [pipe])
    const read = readFile(pipe, 'utf8')
    expect((await run(['--players', '--output', pipe, java])).code).toBe(0)
    expect(lstatSync(pipe).isFIFO()).toBe(true)
    expect(await read).toMatch(/^\d+\n$/)
  })

  it('tries again while a server is down, and waits until it is ready', async () => {
    let attempts = 0
    await using starting = await hostileServer((socket) => {
      const max = attempts++ < 2 ? 0 : 20
      socket.once('data', () => {
        socket.write(encodeStatus(JSON.stringify({ version: { name: '1.21.11', protocol: 774 }, players: { max, online: 0 } })))
        socket.on('data', (ping) => void socket.write(ping))
      })
    })
    const address = `127.0.0.1:${starting.port}`
    expect(await run(['--ready', address])).toMatchObject({ code: 1, err: expect.stringContaining('not ready') })
    const { code } = await run(['--ready', '--retry', '5', '--retry-interval', '10ms', address])
    expect(code).toBe(0)
    expect(attempts).toBe(3)
  })

  it('repeats with --watch until it is stopped', async () => {
    const stop = new AbortController()
    let count = 0
    const written = () => {
      if (++count === 3) stop.abort()
    }
    const { code, out } = await run(['--watch', '--interval', '100ms', '--players', java], { stop: stop.signal, written })
    expect([code, out]).toEqual([0, expect.stringMatching(/^(?:\d+\n){3}$/)])
  })

  it('ends quietly if the reader of its output has gone', async () => {
    const child = spawn(process.execPath, [main, 'status', '--watch', '--interval', '100ms', '--json', java])
    let err = ''
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const [code] = await once(child, 'close')
    expect([code, err]).toEqual([0, ''])
  })

  it('prints no control sequence of an argument', async () => {
    const child = spawn(process.execPath, [main, 'status', '--x\x1b[2J'])
    let err = ''
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    const [code] = await once(child, 'close')
    expect([code, err]).toEqual([2, expect.stringContaining("unknown option '--x\\u001b[2J'")])
  })

  it.each([
    [['a b'], 'is not an address'],
    [[], "missing argument 'address'"],
    [['x', '--timeout', 'soon'], '--timeout is "soon"; expected a duration'],
    [['x', '--json', '--players'], 'exclude each other'],
    [['x', '--interval', '1s'], 'no effect without --watch'],
    [['x', '--jsn'], "unknown option '--jsn'; did you mean --json?"],
    [['x', '--proxy-protocol', 'v3'], 'One setting is wrong:\n  - --mc-proxy-protocol is "v3"; expected one of v1, v2\n'],
    [['x', '--rcon', ':'], '2 settings are wrong:\n  - --mc-rcon is ":"; expected host'],
  ])('refuses %j', async (args, message) => {
    await expect(run(args)).rejects.toThrow(message)
  })
})

describe.concurrent('tickwarden status of a server that', () => {
  it.each(Object.entries(hostile))('%s ends with code 1 and one line', async (_name, { behave }) => {
    await using server = await hostileServer(behave)
    const { code, out, err } = await run(['--timeout', '500ms', `127.0.0.1:${server.port}`])
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^127\.0\.0\.1:\d+ is down: [^\n]+\n$/)
    expect(err).not.toMatch(/\.\d+ ms/)
  })
})
