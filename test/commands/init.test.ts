import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { setProperties } from '../../src/commands/init/enable-rcon.ts'
import { filesFor } from '../../src/commands/init/files.ts'
import { findServers, parseListening } from '../../src/commands/init/find-servers.ts'
import { type DemoServer, startDemoServer } from '../../src/demo/demo-server.ts'
import { parseProperties } from '../../src/game/sources/directory/server-properties.ts'
import { formatHostPort } from '../../src/util/address.ts'
import { hasTool } from '../helpers/require-tool.ts'
import { callProgram } from '../helpers/run-program.ts'

const main = join(import.meta.dirname, '../../dist/src/main.js')
const temporary = () => mkdtempSync(join(tmpdir(), 'tickwarden-init-'))

async function run(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, out, err } = await callProgram(args, env, folder)
  return { code, out: out + err }
}

let demo: DemoServer
let address = ''
beforeAll(async () => {
  demo = await startDemoServer({ rconPassword: "sword'fish" })
  address = formatHostPort(demo.address)
})
afterAll(() => demo.close())

describe('tickwarden init', () => {
  it('writes a configuration that loads, with secrets in files of their owner, and overwrites nothing', async () => {
    const folder = temporary()
    writeFileSync(join(folder, '.env'), 'OTHER=1\nMC_RCON_PASSWORD=old\nMC_RCON_PASSWORD_FILE=missing\n')
    const rcon = ['--rcon', formatHostPort(demo.rcon.address)]
    const args = ['init', '--yes', address, ...rcon, '--timeout', '20s', '--compose', '--systemd', '--prometheus']
    const secret = { MC_RCON_PASSWORD: "sword'fish" }
    const refused = await run(folder, args, secret)
    expect(refused).toMatchObject({ code: 2, out: expect.stringContaining('already there: .env') })
    expect(readdirSync(folder)).toEqual(['.env'])
    const written = await run(folder, [...args, '--force'], secret)
    expect(written).toMatchObject({ code: 0, out: expect.stringMatching(/✓ Status .*\n {2}✓ RCON /) })
    expect(written.out).not.toContain('fish')
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('OTHER=1\nMC_RCON_PASSWORD="sword\'fish"\n')
    if (process.platform !== 'win32') expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
    const text = readFileSync(join(folder, 'tickwarden.yaml'), 'utf8')
    expect(text).toContain('Secrets of the first server are in .env.')
    expect(parse(text).servers).toEqual([{ name: expect.any(String), address, rcon: { address: rcon[1] } }])
    // The comments at the top of the shipped files are about those.
    expect(readFileSync(join(folder, 'compose.yaml'), 'utf8')).toMatch(/^# Tickwarden in a container.*\n\nservices:/)
    expect(readFileSync(join(folder, 'prometheus.yaml'), 'utf8')).toMatch(/^# Scrapes Tickwarden.*\n\nglobal:/)
    const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'))
    expect(Object.keys(services.tickwarden.environment)).toEqual([...['HOST', 'PORT', 'HISTORY_DIR', 'TICKWARDEN_CONFIG']])
    const { scrape_configs: jobs } = parse(readFileSync(join(folder, 'prometheus.yaml'), 'utf8'))
    expect(jobs).toEqual([{ job_name: 'tickwarden', static_configs: [{ targets: ['127.0.0.1:8080'] }] }])
    expect(await run(folder, ['check', '--config', 'tickwarden.yaml', '--poll-timeout', '20s'])).toMatchObject({ code: 0 })
    if (hasTool('systemd-analyze')) {
      const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, 'tickwarden.service')], {
        encoding: 'utf8',
      })
      expect(stderr).not.toContain('tickwarden.service:')
    }
  })

  it('switches RCON on only if it is told to, keeps a backup, and takes a folder in an address', async () => {
    const folder = temporary()
    const server = join(folder, 'survival')
    mkdirSync(server)
    const before = Buffer.from(`# comment\r\nserver-port=${demo.address.port}\r\nmotd=h\xe9llo\r\nrcon.password=\r\n`, 'latin1')
    const file = join(server, 'server.properties')
    writeFileSync(file, before)
    await run(folder, ['init', '--yes', 'survival', '--timeout', '20s'])
    expect(readFileSync(file)).toEqual(before)
    const { code, out } = await run(folder, ['init', '--yes', '--force', 'survival', '--enable-rcon', '--timeout', '20s'])
    // The server has not been restarted.
    expect([code, out]).toEqual([1, expect.stringMatching(/backup: .*\n?.*Restart this Minecraft server/)])
    expect(readFileSync(`${file}.backup`)).toEqual(before)
    const bytes = readFileSync(file)
    expect(bytes.includes(Buffer.from('motd=h\xe9llo\r\n', 'latin1'))).toBe(true)
    const properties = parseProperties(bytes.toString('latin1'))
    expect([properties.get('enable-rcon'), properties.get('rcon.password')]).toEqual(['true', expect.stringMatching(/^.{32}$/)])
    expect(out).not.toContain(properties.get('rcon.password'))
    expect(parse(readFileSync(join(folder, 'tickwarden.yaml'), 'utf8')).servers).toEqual([
      { name: 'survival', directory: server },
    ])
  })

  it('mounts what the settings name into the container, and lets it and the unit read a server.properties of its group', async () => {
    const folder = temporary()
    for (const name of ['password', 'secret', 'ca.pem']) writeFileSync(join(folder, name), 'x'.repeat(40))
    mkdirSync(join(folder, 'lobby'))
    writeFileSync(join(folder, 'lobby/server.properties'), 'server-port=1\n')
    const rcon = ['--rcon', 'mc.invalid', '--rcon-password-file', 'password']
    const management = ['--management', 'wss://mc.invalid', '--management-secret-file', 'secret', '--management-ca', 'ca.pem']
    const args = ['init', '--yes', '--compose', '--listen', '[::1]:9000', 'mc.invalid', 'mc2.invalid', ...rcon, ...management]
    chmodSync(join(folder, 'password'), 0o600)
    const { code, out } = await run(folder, [...args, '--timeout', '2s'])
    expect([code, out]).toEqual([1, expect.stringContaining('Written')])
    const isHidden = process.getuid?.() !== 1000
    expect(out.includes(`The user of the container (1000) cannot read ${join(folder, 'password')}:`)).toBe(isHidden)
    const read = () => parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')).services.tickwarden
    const mounted = (name: string) => `${join(folder, name)}:${join(folder, name)}:ro`
    expect(read().volumes.slice(0, -2)).toEqual(['tickwarden.yaml', 'password', 'secret', 'ca.pem'].map(mounted))
    expect([read().ports, read().group_add]).toEqual([['[::1]:9000:8080'], undefined])
    const { servers } = parse(readFileSync(join(folder, 'tickwarden.yaml'), 'utf8'))
    // The working directory of the container is another one.
    expect(servers[0].management.ca).toBe(join(folder, 'ca.pem'))
    const again = () => run(folder, ['init', '--yes', '--force', '--compose', '--systemd', 'lobby', '--timeout', '2s'])
    const unit = () => readFileSync(join(folder, 'tickwarden.service'), 'utf8')
    await again()
    // Everyone may read it.
    expect([read().volumes[1], read().group_add]).toEqual([mounted('lobby'), undefined])
    expect(unit()).not.toContain('SupplementaryGroups')
    for (const [path, mode] of [
      ['lobby/server.properties', 0o640],
      ['lobby', 0o750],
    ] as const) {
      chmodSync(join(folder, path), mode)
      await again()
      const group = String(statSync(join(folder, path)).gid)
      expect(read().group_add).toEqual([group])
      expect(unit()).toContain(`\nSupplementaryGroups=${group}\n`)
      chmodSync(join(folder, path), 0o755)
    }
  })

  it.each([
    ['the file cannot be replaced', (folder: string) => mkdirSync(join(folder, 'tickwarden.yaml')), '', 'it is a folder'],
    ['the folder cannot be written to', () => {}, '/proc', 'files cannot be written to /proc (ENOENT)'],
  ])('changes no server.properties if %s', async (_, prepare, otherFolder, message) => {
    const folder = temporary()
    const file = join(folder, 'server.properties')
    writeFileSync(file, 'server-port=1\n')
    prepare(folder)
    const { code, out } = await run(otherFolder || folder, ['init', '--yes', '--force', folder, '--enable-rcon'])
    expect([code, out]).toEqual([1, expect.stringContaining(message)])
    expect(readFileSync(file, 'utf8')).toBe('server-port=1\n')
  })

  it('writes nothing if the folder of a secret is a file', async () => {
    const folder = temporary()
    writeFileSync(join(folder, 'secrets'), '')
    const env = { MC_RCON_PASSWORD: `sword'"fish` }
    const { code, out } = await run(folder, ['init', '--yes', '127.0.0.1:1', '--rcon', '127.0.0.1:1', '--timeout', '2s'], env)
    expect([code, out]).toEqual([1, expect.stringContaining('secrets/mc-rcon-password-1 cannot be written: secrets is a file.')])
    expect(readdirSync(folder)).toEqual(['secrets'])
  })

  it('changes no server.properties if the disk is full', async () => {
    const folder = temporary()
    const file = join(folder, 'server.properties')
    writeFileSync(file, 'server-port=1\n')
    const full = vi.spyOn(fs, 'writeFile').mockRejectedValueOnce(Object.assign(new Error('full'), { code: 'ENOSPC' }))
    syncBuiltinESMExports()
    onTestFinished(() => {
      full.mockRestore()
      syncBuiltinESMExports()
    })
    const { code, out } = await run(folder, ['init', '--yes', folder, '--enable-rcon'])
    expect([code, out]).toEqual([1, expect.stringContaining('(ENOSPC)')])
    expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['server-port=1\n', ['server.properties']])
  })

  it('needs no .env without a secret, and names one that it cannot read', async () => {
    const folder = temporary()
    const init = () => run(folder, ['init', '--yes', '127.0.0.1:1', '--timeout', '2s', '--force'])
    mkdirSync(join(folder, '.env'))
    expect(await init()).toMatchObject({ code: 1, out: expect.stringContaining('Written: tickwarden.yaml') })
    rmdirSync(join(folder, '.env'))
    writeFileSync(join(folder, '.env'), Buffer.from('A=caf\xe9\n', 'latin1'))
    expect(await init()).toMatchObject({ code: 2, out: expect.stringContaining('.env cannot be read (not UTF-8 text') })
  })

  it('names the secrets from before that are not used any more', async () => {
    const folder = temporary()
    const secrets = join(folder, 'secrets')
    mkdirSync(secrets)
    for (const name of ['mc-rcon-password-1', 'mc-rcon-password-2', 'mc-rcon-password', 'mine'])
      writeFileSync(join(secrets, name), 'x')
    const given = ['--rcon-password-file', join(secrets, 'mc-rcon-password-2'), '--rcon', 'localhost:1']
    const { out } = await run(folder, ['init', '--yes', address, '--timeout', '20s', ...given])
    expect(out).toContain('Secrets that are not used any more: secrets/mc-rcon-password-1. Delete them.')
    expect(readdirSync(secrets)).toHaveLength(4)
  })

  it('tells what an .env from before sets in place of what it writes', async () => {
    const folder = temporary()
    writeFileSync(join(folder, '.env'), 'MC_SERVER=old.invalid\nMC_RCON_PASSWORD=old\nPORT=9123\nPOLL_INTERVAL=9s\n')
    const { code, out } = await run(folder, ['init', '--yes', address, '--timeout', '20s'])
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('.env sets MC_SERVER, MC_RCON_PASSWORD, PORT instead of tickwarden.yaml'),
    ])
    expect(out).toContain('open http://127.0.0.1:9123')
    for (const [name, text] of [
      ['.env', 'MC_RCON_PASSWORD=old'],
      ['password', 'new'],
    ] as const)
      writeFileSync(join(folder, name), text)
    const rcon = ['--rcon', formatHostPort(demo.rcon.address), '--rcon-password-file', 'password']
    const again = await run(folder, ['init', '--yes', '--force', address, ...rcon, '--timeout', '20s'])
    expect(again.out).toContain('.env sets MC_RCON_PASSWORD instead of tickwarden.yaml')
    writeFileSync(join(folder, '.env'), 'MC_MANAGEMENT_SECRET=old\n')
    const wrong = await run(folder, ['init', '--yes', '--force', address, '--timeout', '20s'])
    expect(wrong).toEqual({
      code: 1,
      out: expect.stringMatching(/\.env sets MC_MANAGEMENT_SECRET.*set without MC_MANAGEMENT$/ms),
    })
  })

  it.each([
    [['nowhere/at/all'], 'is neither an address nor a folder'],
    [['.'], 'is a folder without server.properties'],
    [['127.0.0.1:1', '--listen', 'x y'], '--listen is "x y"'],
    [['127.0.0.1:1', '--rcon', '127.0.0.1:2'], 'MC_RCON_PASSWORD'],
  ])('%j is wrong', async (args, message) => {
    const folder = temporary()
    expect(await run(folder, ['init', '--yes', ...args])).toEqual({ code: 2, out: expect.stringContaining(message) })
    expect(readdirSync(folder)).toEqual([])
  })

  it('writes a server that is down, with exit code 1', async () => {
    const folder = temporary()
    const { code, out } = await run(folder, ['init', '--yes', '127.0.0.1:1', '127.0.0.1:1', '--timeout', '2s'])
    expect([code, out]).toEqual([1, expect.stringContaining('✗ Status (127.0.0.1:1)')])
    const text = readFileSync(join(folder, 'tickwarden.yaml'), 'utf8')
    expect(text).not.toContain('.env')
    const { servers } = parse(text)
    expect(servers.map(({ name }: { name: string }) => name)).toEqual(['minecraft-1', 'minecraft-1-2'])
  })

  const script = `
import json, os, pty, select, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
answers = [(question.encode(), answer.encode()) for question, answer in json.loads(sys.stdin.read())]
seen = b''
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data: break
    os.write(1, data)
    seen += data
    if answers and answers[0][0] in seen:
        seen = b''
        os.write(terminal, answers.pop(0)[1])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`
  /** Runs the command on a terminal. @param answers each with a part of its question */
  async function answer(
    folder: string,
    targets: readonly string[],
    answers: readonly (readonly [question: string, keys: string])[],
    program = main,
  ) {
    const args = ['-c', script, process.execPath, program, 'init', ...targets, '--timeout', '20s']
    const child = spawn('python3', args, { cwd: folder, env: { PATH: process.env.PATH, TERM: 'xterm' } })
    let out = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stdin.end(JSON.stringify(answers))
    return { code: await new Promise((resolve) => child.on('close', resolve)), out }
  }

  it.skipIf(!hasTool('python3'))('asks on a terminal', async () => {
    const folder = temporary()
    const { code, out } = await answer(
      folder,
      [address],
      [
        ['Its address', `${formatHostPort(demo.rcon.address)}\r`],
        ['Password of RCON', "sword'fish\r"],
        ['What else', '\r'],
      ],
    )
    expect([code, out]).toEqual([0, expect.stringContaining('Written: tickwarden.yaml, .env')])
    expect(out).not.toContain('fish')
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('MC_RCON_PASSWORD="sword\'fish"\n')
  })

  it.skipIf(!hasTool('python3'))(
    'offers no compose.yaml in an installed package, which has no Dockerfile to build from',
    async () => {
      const root = join(import.meta.dirname, '../..')
      const installed = temporary()
      cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true })
      for (const name of ['package.json', 'src', 'node_modules', 'examples']) symlinkSync(join(root, name), join(installed, name))
      const folder = temporary()
      const answers = [
        ['Its address', '\r'],
        ['What else', ' \r'],
      ] as const
      const { code, out } = await answer(folder, [address], answers, join(installed, 'dist/src/main.js'))
      expect([code, out]).toEqual([0, expect.stringContaining('Written: tickwarden.yaml, tickwarden.service')])
      expect(out).not.toContain('compose.yaml')
    },
  )

  it.skipIf(!hasTool('python3'))(
    'writes the secret of a second server so that only the user and the container read it',
    async () => {
      const folder = temporary()
      const init = () =>
        answer(
          folder,
          [address, address, '--compose', '--force'],
          [
            ['Its address', '\r'],
            ['Its address', `${formatHostPort(demo.rcon.address)}\r`],
            ['Password of RCON', "sword'fish\r"],
            ['What else', '\r'],
          ],
        )
      const { code, out } = await init()
      expect([code, out]).toEqual([0, expect.stringContaining('secrets/mc-rcon-password-2, compose.yaml')])
      const secret = join(folder, 'secrets/mc-rcon-password-2')
      expect(readFileSync(secret, 'utf8')).toBe("sword'fish\n")
      // The user of the container has another ID; only the folder of this machine is closed to others, which is not mounted.
      const modes = () => [secret, join(folder, 'secrets')].map((path) => statSync(path).mode & 0o777)
      expect(modes()).toEqual([0o644, 0o700])
      const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'))
      expect(services.tickwarden.volumes).toContain(`${secret}:${secret}:ro`)
      // A folder that is for others too stays so.
      chmodSync(join(folder, 'secrets'), 0o755)
      const again = await init()
      expect(modes()).toEqual([0o600, 0o755])
      expect(again.out.includes('chmod 700 secrets')).toBe(process.getuid?.() !== 1000)
    },
  )

  it.skipIf(!hasTool('python3'))('is cancelled by Ctrl+D, and says what stays changed', async () => {
    const folder = temporary()
    writeFileSync(join(folder, 'server.properties'), 'server-port=45999\n')
    const { code, out } = await answer(
      folder,
      [folder],
      [
        ['Switch it on', 'y'],
        ['What else', '\x04'],
      ],
    )
    const end = /Cancelled; no configuration was written\. RCON stays on in \S+\/server\.properties \(backup: \S+\.backup\)\./
    expect([code, out]).toEqual([1, expect.stringMatching(end)])
    expect(out).toMatch(/Directory .*port 45999\b/)
  })
})

it('finds servers by their ports and folders', async () => {
  const folder = temporary()
  for (const [name, port] of [
    ['one', demo.address.port],
    ['two', 1],
  ] as const) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'server.properties'), `server-port=${port}\n`)
  }
  mkdirSync(join(folder, 'pipe'))
  if (process.platform !== 'win32') execFileSync('mkfifo', [join(folder, 'pipe', 'server.properties')])
  const addresses = [demo.address, { ...demo.address, port: demo.rcon.address.port }]
  const { signal } = new AbortController()
  const names = async (folders: readonly string[]) => (await findServers(signal, { addresses, folders })).map(({ name }) => name)
  expect(await names([folder])).toEqual(['one', 'two'])
  expect(await names([])).toEqual([`minecraft-${demo.address.port}`])
})

it('reads the tables of listening sockets', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue
   0: 0100007F:63DD 00000000:0000 0A 00000000:00000000 00:00000000
   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000
   2: 0100007F:63DE 0100007F:1F90 01 00000000:00000000 00:00000000
   3: 0000000000000000FFFF00000100007F:0050 00000000000000000000000000000000:0000 0A 00000000:00000000
   4: 00000000000000000000000001000000:0051 00000000000000000000000000000000:0000 0A 00000000:00000000
   5: 00000000000000000000000000000000:0052 00000000000000000000000000000000:0000 0A 00000000:00000000
   6: B80D01200000000000000000DD860000:0053 00000000000000000000000000000000:0000 0A 00000000:00000000
`
  expect(parseListening(table, '0A', 'java').map(({ host, port }) => `${host} ${port}`)).toEqual([
    ...['127.0.0.1 25565', '127.0.0.1 8080', '127.0.0.1 80', '::1 81', '127.0.0.1 82', '2001:db8::86dd 83'],
  ])
})

it('replaces properties whatever their form, and keeps the rest', () => {
  const set = (text: string) => setProperties(text, { 'enable-rcon': 'true' })
  expect(set('a=1\n enable-rcon : false\nb=2\n')).toBe('a=1\nb=2\nenable-rcon=true\n')
  expect(set('#enable-rcon=x\r\nenable-rcon=no')).toBe('#enable-rcon=x\r\nenable-rcon=true\r\n')
  for (const text of [
    '',
    'a=1\\',
    'a=1\\\n',
    'a=1\\\r\n',
    '\\u0065nable-rcon=false',
    'enable\\-rcon=no\n',
    'enable-rcon=fal\\\nse',
    'a=\\\\',
    'a=1',
  ])
    expect(parseProperties(set(text)).get('enable-rcon')).toBe('true')
  for (const end of ['\n', '\r\n'])
    expect(set(`a=1\\${end}enable-rcon=2${end}enable-rcon=fal\\${end}se${end}b=3${end}`)).toBe(
      `a=1\\${end}enable-rcon=2${end}b=3${end}enable-rcon=true${end}`,
    )
})

it('names paths with a colon or a dollar sign as Compose reads them', () => {
  const listen = { host: '127.0.0.1', port: 8080 }
  const servers = ['/srv/mc $HOME', '/srv/mc:1 $'].map((path) => ({ name: 'a', settings: { MC_DIRECTORY: path } }))
  const compose = filesFor(servers, { listen, extras: new Set(['compose']), existingEnv: '' }).at(-1)
  expect(parse(compose?.text ?? '').services.tickwarden.volumes.slice(1, 3)).toEqual([
    '/srv/mc $$HOME:/srv/mc $$HOME:ro',
    { type: 'bind', source: '/srv/mc:1 $$', target: '/srv/mc:1 $$', read_only: true },
  ])
})

it.each([
  ['a home folder', '/home/minecraft/server'],
  ['a home folder, by a link', ''],
])('lets the unit read a server in %s', (_, path) => {
  const listen = { host: '127.0.0.1', port: 8080 }
  const link = join(temporary(), 'link')
  symlinkSync('/home', link)
  const servers = [{ name: 'a', settings: { MC_DIRECTORY: path || link } }]
  const [, unit] = filesFor(servers, { listen, extras: new Set(['systemd']), existingEnv: '' })
  expect(unit?.text).toContain('\nProtectHome=read-only\n')
})

it('writes a unit although the group of a server.properties is not known', () => {
  const folder = temporary()
  symlinkSync('server.properties', join(folder, 'server.properties'))
  const listen = { host: '127.0.0.1', port: 8080 }
  const servers = [{ name: 'a', settings: { MC_DIRECTORY: folder } }]
  const [, unit] = filesFor(servers, { listen, extras: new Set(['systemd']), existingEnv: '' })
  expect(unit?.text).not.toContain('SupplementaryGroups')
})

it.each([
  ['sword fish', "'sword fish'"],
  ['$HOME"\\n', `'$HOME"\\n'`],
  ["sword'`#", `"sword'\`#"`],
  ["sword'$HOME", undefined],
  ["sword'\\", undefined],
  ['sword\\', undefined],
  [`sword'"`, undefined],
  ['sword\rfish', undefined],
  ['sword\nfish', undefined],
])('writes the secret %j to .env only as both Node.js and Compose read it', (secret, quoted) => {
  const listen = { host: '127.0.0.1', port: 8080 }
  const servers = [{ name: 'a', settings: { MC_SERVER: 'a', MC_RCON: 'a:1', MC_RCON_PASSWORD: secret } }]
  const existingEnv = 'MC_RCON_PASSWORD=old\nOTHER=1\n'
  const [config, env, ...others] = filesFor(servers, { listen, extras: new Set(), existingEnv })
  expect(config?.text.includes('are in .env')).toBe(quoted !== undefined)
  expect(env?.text).toBe(`OTHER=1\n${quoted === undefined ? '' : `MC_RCON_PASSWORD=${quoted}\n`}`)
  expect(parse(config?.text ?? '').servers[0].rcon).toEqual({
    address: 'a:1',
    ...(quoted === undefined && { passwordFile: resolve('secrets/mc-rcon-password-1') }),
  })
  expect(others.map(({ text }) => text)).toEqual(quoted === undefined ? [`${secret}\n`] : [])
})

it.each(['/data', '/history'])('refuses a server in %s, where the container has a volume', (folder) => {
  const listen = { host: '127.0.0.1', port: 8080 }
  const servers = [{ name: 'a', settings: { MC_DIRECTORY: folder } }]
  expect(() => filesFor(servers, { listen, extras: new Set(['compose']), existingEnv: '' })).toThrow(
    `${folder} is a volume of the container`,
  )
})
