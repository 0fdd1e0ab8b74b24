import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
// wait: a process is suspended for a time.
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { allSettings } from '../src/config/settings.ts'
import { version } from '../src/util/package.ts'
import { callProgram } from './helpers/run-program.ts'
import { freePort } from './helpers/run-tool.ts'

const root = join(import.meta.dirname, '..')
const main = join(root, 'dist', 'src', 'main.js')
const children = new Set<ChildProcess>()

interface Running {
  readonly child: ChildProcess
  output(): string
  readonly exit: Promise<number | null>
  /** Waits until the output matches; rejects when the process ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>
}

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Running =>
  runCommand(process.execPath, [main, ...args], env)

function runCommand(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Running {
  const child = spawn(command, args, {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  let output = ''
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const check = () => {
        const match = pattern.exec(output)
        if (match) resolve(match)
      }
      child.stdout?.on('data', check)
      child.stderr?.on('data', check)
      child.once('close', () => reject(new Error(`ended before ${pattern}:\n${output}`)))
      check()
    })
  return { child, output: () => output, exit, until }
}

/** When each built file was written: path and milliseconds. */
const builtFiles = (): readonly (readonly [string, number])[] =>
  readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
    .sort()
    .map((path) => [path, statSync(join(root, 'dist', path)).mtimeMs])

const listening = async (running: Running) => (await running.until(/listens on (http:\/\/[\w.:[\]]+)/))[1] ?? ''

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
})

describe('tickwarden', () => {
  it('watches the demo server without settings, and marks its data everywhere', async () => {
    const running = run(['--port', '0', '--poll-interval', '500ms'])
    const url = await listening(running)
    await expect
      .poll(async () => (await fetch(`${url}/api/v1/getall`)).json())
      .toMatchObject({ SERVER_NAME: 'demo', SERVER_IP: '127.0.0.1' })
    const [first = ''] = running.output().split('\n')
    expect(JSON.parse(first).msg).toMatch(/^Demo data: Tickwarden .* listens on http.* no server is configured; set MC_SERVER/)
    expect(running.output().match(/demo server/g)).toHaveLength(1)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('minecraft_up{server="demo"} 1')
    expect(metrics).toContain('minecraft_demo{server="demo"} 1')
    expect(await (await fetch(`${url}/probe?target=demo`)).text()).toContain('minecraft_demo 1\n')
    const api = ['getall', 'motd', 'favicon', 'sources', 'servers', 'uptime', 'badge.svg', 'servers/demo/getall', 'nothing?a']
    for (const path of api) expect((await fetch(`${url}/api/v1/${path}`)).headers.get('x-demo'), path).toBe('true')
    for (const path of ['/', '/servers/demo'])
      expect(await (await fetch(url + path, { headers: { accept: 'text/html' } })).text()).toContain('Demo data: no server')
    for (const path of ['/metrics', '/v1/ping', '/api/v10'])
      expect((await fetch(url + path)).headers.get('x-demo'), path).toBeNull()
    running.child.kill('SIGTERM')
    expect(await running.exit).toBe(0)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('ends gracefully on %s while requests and polls are under way', async (signal) => {
    const running = run([], { PORT: '0', POLL_INTERVAL: '500ms' })
    const url = await listening(running)
    const requests = Promise.allSettled(Array.from({ length: 50 }, () => fetch(`${url}/metrics`)))
    await fetch(`${url}/api/v1/servers`)
    running.child.kill(signal)
    // 1 if it was not done in time.
    expect(await running.exit).toBe(0)
    await requests
    expect(running.output()).not.toMatch(/unhandled|Error:/i)
  })

  it('ends by a fault in machine code, which a handler would repeat forever', async () => {
    const running = run([], { PORT: '0' })
    await listening(running)
    running.child.kill('SIGSEGV')
    await running.exit
    expect(running.child.signalCode).toBe('SIGSEGV')
  })

  it('leaves what is built as it is with `npm start`, and ends gracefully when it receives a signal', async () => {
    const before = builtFiles()
    const npm = runCommand('npm', ['start'], { PORT: '0', HOME: process.env.HOME ?? '' })
    const url = await listening(npm)
    const pid = Number((await npm.until(/"pid":(\d+)/))[1])
    npm.child.kill('SIGTERM')
    try {
      // All processes that use the output have ended, including the service. npm itself ends by the signal.
      await npm.exit
      expect(npm.output()).toContain('SIGTERM: shutting down')
      await expect(fetch(url)).rejects.toThrow()
      // Other services may be reading these files, and other tests packing them.
      expect(builtFiles()).toEqual(before)
    } finally {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended as expected.
      }
    }
  })

  it('is the command `npx tickwarden` in a clone', async () => {
    const npx = runCommand('npx', ['tickwarden', '--version'], { HOME: process.env.HOME ?? '' })
    expect(await npx.exit).toBe(0)
    expect(npx.output()).toContain(version)
  })

  it.each([
    [{ MC_SEVER: 'mc.example.org' }, [], /MC_SEVER: unknown setting; did you mean MC_SERVER\?/],
    [{ MC_NAME: 'survival' }, [], /MC_NAME is set without MC_SERVER or MC_DIRECTORY/],
    [{}, ['--config', '/dev/null'], /\/dev\/null: lists no server/],
  ])('does not start the demo server because of a mistake: %j %j', async (env, args, message) => {
    expect(await callProgram(args, { PORT: '0', ...env })).toEqual({ code: 2, out: '', err: expect.stringMatching(message) })
  })

  it('runs an update with a config file that lists no server', async () => {
    expect((await callProgram(['update', 'likedsongs', '--config', '/dev/null'])).code).toBe(4)
  })

  it('warns once of an unknown MC_ variable, and logs what the data service has loaded if it is configured', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-main-'))
    const running = run([], { PORT: '0', MC_SERVER: '127.0.0.1:1', MC_PORT: 'tcp://10.0.0.1:25565', DATA_DIR: folder })
    await running.until(/snapshot not loaded/)
    const lines = running.output().split('\n')
    expect(lines[0]).toContain('listens on')
    expect(lines.filter((line) => line.includes('MC_PORT'))).toHaveLength(1)
  })

  it('lists every wrong setting and exits with 2', async () => {
    const env = { PORT: 'x', MC_SERVER: 'a b', RUN_TOKEN_FILE: '/nowhere/token' }
    const { code, out, err } = await callProgram(['--poll-interval', 'soon'], env)
    expect([code, out]).toEqual([2, ''])
    for (const part of [
      '4 settings are wrong',
      'PORT is "x"',
      'MC_SERVER is "a b"',
      '--poll-interval is "soon"',
      'RUN_TOKEN_FILE',
    ]) {
      expect(err).toContain(part)
    }
  })

  it.each([
    [['--no-such-flag'], /unknown option '--no-such-flag'\nUse --help for a list of commands and options/],
    [['no-such-command'], /unknown command.*; the commands are serve, status, check, .*\nUse --help/],
    [['127.0.0.1:99999'], /"127\.0\.0\.1:99999" is not an address; expected host or host:port/],
    [['servee'], /unknown command.*; did you mean serve\?\nUse --help/],
    [['--mc-sever', 'x'], /unknown option '--mc-sever'; did you mean --mc-server\?\nUse --help/],
    [['--mc-rcon-pasword-file=Sekret9'], /; did you mean --mc-rcon-password-file\?\n/],
    [['update', 'projects', '--ful'], /unknown option '--ful'; did you mean --full\?\n/],
    [['demo', 'more'], /too many arguments for 'demo'.*\nUse --help/],
    [['demo', '--era', '9'], /--era is "9"; expected 1\.12\.2/],
    [['update', 'nothing'], /Allowed choices are kcomebacks, projects, likedsongs/],
  ])('refuses %j with exit code 2', async (args, message) => {
    expect(await callProgram(args)).toEqual({ code: 2, out: '', err: expect.stringMatching(message) })
  })

  it.each([
    [['--mc-rcon-password=Sekret9'], /set MC_RCON_PASSWORD, or set MC_RCON_PASSWORD_FILE \(--mc-rcon-password-file\) to a file/],
    [['--run-token', 'Sekret9'], /set RUN_TOKEN, or set RUN_TOKEN_FILE \(--run-token-file\) to a file/],
    [['update', 'projects', "--github-token=Sekret9's = \n9"], /set GITHUB_TOKEN, or set GITHUB_TOKEN_FILE/],
    [['--mc-rcon-pasword-file=Sekret9'], /unknown option '--mc-rcon-pasword-file'/],
    [["--secret=a=Sek're\nt9"], /unknown option '--secret'/],
  ])('does not repeat the value of the unknown flag in %j', async (args, message) => {
    const { code, out, err } = await callProgram(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(message)
    expect(err).not.toMatch(/sek|t9/i)
  })

  it.each([{}, { LOG_LEVEL: 'silent' }])('reports that another program uses the port, with %j', async (env) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const running = run([], { PORT: String(port), ...env })
    expect(await running.exit).toBe(1)
    expect(running.output()).toContain(
      `127.0.0.1:${port} is already in use by another program. Stop that program, or choose another port: PORT=${port + 1}`,
    )
    other.close()
  })

  it.each([
    [{ HOST: '192.0.2.1' }, /192\.0\.2\.1 is not an address of this machine/],
    [{ METRICS_LISTEN: '192.0.2.1:9150', MC_SERVER: '127.0.0.1:1' }, /Set the host of METRICS_LISTEN/],
  ])('ends with exit code 1 when the start fails with %j', async (env, message) => {
    const running = run([], { PORT: '0', ...env })
    expect(await running.exit).toBe(1)
    expect(running.output()).toMatch(message)
  })

  it('lists a wrong range of trusted proxies with the other wrong settings', async () => {
    const { code, err } = await callProgram([], { PORT: 'x', TRUST_PROXY: 'loopback, 10/8' })
    expect(code).toBe(2)
    expect(err).toMatch(/2 settings are wrong[\s\S]*PORT[\s\S]*TRUST_PROXY/)
  })

  it.each(['HISTORY_DIR', 'DATA_DIR'])(
    'starts with a folder below /proc in %s, and logs that it cannot be used',
    async (name) => {
      const running = run([], { PORT: '0', [name]: '/proc/tickwarden/history' })
      await running.until(/\/proc\/tickwarden\/history[\s\S]*the history is kept in memory only/)
      running.child.kill('SIGTERM')
      expect(await running.exit).toBe(0)
    },
  )

  it('reports which port of the demo server is in use, and how to choose another one', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, out, err } = await callProgram(['demo', '--query-port', String(port), '--rcon-port', String(port)])
    expect([code, out]).toEqual([1, ''])
    expect(err).toBe(
      `127.0.0.1:${port} is already in use by another program. Stop that program, or choose another port: --rcon-port=${port + 1}\n`,
    )
    other.close()
  })

  it('reads servers and secrets again on SIGHUP, and keeps the current ones if they are broken', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-main-'))
    const [config, secret] = [join(folder, 'tickwarden.yaml'), join(folder, 'secret')]
    const servers = (...names: string[]) => {
      const entries = names.map((name) => `  - { name: ${name}, address: "127.0.0.1:1", rcon: { passwordFile: ${secret} } }\n`)
      writeFileSync(config, `servers:\n${entries.join('')}`)
    }
    writeFileSync(secret, 'first')
    servers('a')
    const running = run(['--port', '0', '--config', config])
    const url = await listening(running)
    writeFileSync(secret, 'second')
    running.child.kill('SIGHUP')
    await running.until(/changed a"/)
    servers('a', 'b')
    running.child.kill('SIGHUP')
    await running.until(/added b"/)
    writeFileSync(config, 'servers: [')
    running.child.kill('SIGHUP')
    await running.until(/its previous servers are still watched/)
    running.child.kill('SIGHUP')
    await running.until(/its previous servers are still watched[\s\S]*its previous servers are still watched/)
    expect(await (await fetch(`${url}/api/v1/servers`)).json()).toEqual(['a', 'b'])
    running.child.kill('SIGTERM')
    expect(await running.exit).toBe(0)
  })

  it.each(['SIGHUP', 'SIGTERM'] as const)('answers %s during its start', async (signal) => {
    // The list of servers is requested before the service listens, and answered after the signal.
    const list = createHttpServer((_request, response) => {
      running.child.kill(signal)
      void running.until(new RegExp(signal)).then(() => response.setHeader('content-type', 'application/json').end('[]'))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void list.close())
    await once(list, 'listening')
    const { port } = list.address() as AddressInfo
    const running = run(['--port', '0'], { DISCOVERY_HTTP_SD: `http://127.0.0.1:${port}/` })
    if (signal === 'SIGHUP') {
      await listening(running)
      running.child.kill('SIGTERM')
    }
    expect(await running.exit).toBe(0)
  })

  it('ends with 0 five seconds after SIGTERM, even if its start takes longer', async () => {
    const list = createHttpServer()
      .once('request', () => running.child.kill('SIGTERM'))
      .listen(0, '127.0.0.1')
    onTestFinished(() => {
      list.closeAllConnections()
      list.close()
    })
    await once(list, 'listening')
    const { port } = list.address() as AddressInfo
    const running = run(['--port', '0'], { DISCOVERY_HTTP_SD: `http://127.0.0.1:${port}/` })
    await running.until(/SIGTERM: shutting down/)
    running.child.kill('SIGSTOP')
    await delay(6_000)
    running.child.kill('SIGCONT')
    expect(await running.exit, running.output()).toBe(0)
  })

  it('replaces tokens on SIGHUP, and reports that an added one requires a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tickwarden-main-'))
    const [config, token] = [join(folder, 'tickwarden.yaml'), join(folder, 'token')]
    const text = `servers: [{ name: a, address: "127.0.0.1:1" }]\nmetrics: { tokenFile: ${token} }\n`
    writeFileSync(config, text)
    writeFileSync(token, 'first')
    const running = run(['--port', '0', '--config', config])
    const url = await listening(running)
    const status = async (given: string, path = '/metrics') =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${given}` } })).status
    expect([await status('first'), await status('second')]).toEqual([200, 401])
    writeFileSync(token, 'second')
    running.child.kill('SIGHUP')
    await expect.poll(() => status('second')).toBe(200)
    expect(await status('first')).toBe(401)
    writeFileSync(config, `${text}runs: { token: added }\n`)
    running.child.kill('SIGHUP')
    const [, changed] = await running.until(/take effect after a restart only: (.*?)\. Restart/)
    expect(changed).toBe('runs.token')
    expect(await status('second')).toBe(200)
    running.child.kill('SIGTERM')
    expect(await running.exit).toBe(0)
  })

  it('runs a demo server alone, which another service can watch', async () => {
    const demo = run(['demo', '--era', '26.1', '--players', '3'])
    const [, address = ''] = await demo.until(/MC_SERVER=(\S+)/)
    const service = run([], { PORT: '0', MC_SERVER: address, MC_NAME: 'mine', POLL_INTERVAL: '500ms' })
    const url = await listening(service)
    await expect.poll(async () => (await fetch(`${url}/api/v1/minecraftversion`)).text()).toBe('["26.1"]')
    expect(service.output()).not.toMatch(/demo/i)
    const [first = ''] = service.output().split('\n')
    expect(JSON.parse(first).msg).toBe(
      `Tickwarden ${version} (Node.js ${process.versions.node}) listens on ${url} and watches mine (${address})`,
    )
    // The data service is not configured.
    expect(service.output()).not.toContain('snapshot')
    expect((await fetch(`${url}/api/v1/getall`)).headers.get('x-demo')).toBeNull()
    expect(await (await fetch(`${url}/metrics`)).text()).not.toContain('minecraft_demo')
    expect(await (await fetch(url, { headers: { accept: 'text/html' } })).text()).not.toContain('Demo data')
    demo.child.kill('SIGINT')
    expect(await demo.exit).toBe(0)
  })

  it.each([
    [
      ['demo', '--listen', 'no.such.name.invalid'],
      1,
      /^no\.such\.name\.invalid is not an address of this machine\. Set --listen to one of its addresses/,
    ],
    [['demo', '--players', 'many'], 2, /--players is "many"; expected 0 to 5000/],
    [['update', 'likedsongs'], 4, /not configured: set .*SPOTIFY_CLIENT_ID/],
    [['authorise', 'spotify'], 4, /not configured: set SPOTIFY_CLIENT_ID, SPOTIFY_CLIENT_SECRET/],
  ])('%j exits with %i', async (args, code, message) => {
    const { out, err, ...ended } = await callProgram(args)
    expect(ended.code).toBe(code)
    expect(out + err).toMatch(message)
  })

  it('serves the metrics on a separate address if METRICS_LISTEN is set', async () => {
    const running = run([], { PORT: '0', METRICS_LISTEN: `127.0.0.1:${await freePort()}`, POLL_INTERVAL: '500ms' })
    const url = await listening(running)
    const [, metrics = ''] = await running.until(/metrics are served on (http:\S+?)"/)
    expect((await fetch(`${metrics}/metrics`)).status).toBe(200)
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
    expect((await fetch(`${metrics}/api/v1/servers`)).status).toBe(404)
  })

  it('reports in one line that its output cannot be written', async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [main, '--version'], { stdio: ['ignore', full, 'pipe'] })
    closeSync(full)
    const [[code], errors] = await Promise.all([once(child, 'close'), text(child.stderr!)])
    expect([code, errors]).toEqual([1, expect.stringMatching(/^The output cannot be written: ENOSPC[^\n]*\n$/)])
  })

  it('prints its version, and not that of Node.js', async () => {
    const running = run(['--version'])
    expect(await running.exit).toBe(0)
    expect(running.output()).toBe(`${version}\n`)
  })

  it('prints every setting with --help all, the data service last', async () => {
    const { code, out } = await callProgram(['--help', 'all'])
    expect(code).toBe(0)
    for (const { env, meaning } of allSettings) expect(out).toMatch(new RegExp(`${env} +${meaning.slice(0, 20)}`))
  })
})

it('the scripts need no POSIX shell', () => {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
  for (const command of Object.values<string>(scripts).flatMap((script) => script.split(' && ')))
    expect(command).toMatch(/^(node|npm|tsc|tsx|vitest) [\w@=./ :-]+$/)
})
