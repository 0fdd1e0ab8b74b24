import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { buildApp } from '../../../../src/app.ts'
import { loadConfig } from '../../../../src/config/config.ts'
import { startDemoServer } from '../../../../src/demo/demo-server.ts'
import type { SourceError } from '../../../../src/game/errors.ts'
import { createFleet } from '../../../../src/game/fleet.ts'
import type { GivenSources } from '../../../../src/game/server-settings.ts'
import { createSources } from '../../../../src/game/sources/create-sources.ts'
import { createDirectorySource } from '../../../../src/game/sources/directory/index.ts'
import type { SourceName } from '../../../../src/game/sources/names.ts'
import type { Source, SourceSet } from '../../../../src/game/sources/source.ts'
import { systemClock } from '../../../../src/util/clock.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { selfSigned } from '../../../helpers/certificate.ts'
import { managementServer } from '../../../helpers/management-server.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { hasTool } from '../../../helpers/require-tool.ts'
import { until } from '../../../helpers/until.ts'

let base: string
let folder: string
let source: Source
const warn = vi.fn()
const clock = manualClock()
const context = { clock, log: { ...silentLog, warn }, random: () => 0, push() {} }

beforeEach(() => {
  warn.mockClear()
  base = mkdtempSync(join(tmpdir(), 'tickwarden-directory-'))
  folder = join(base, 'server')
  mkdirSync(folder)
  source = createDirectorySource(folder, context)
})
afterEach(() => {
  source.close()
  rmSync(base, { recursive: true })
})

const write = (path: string, text: string | Buffer) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
const line = (message: string) => `[12:34:56] [Server thread/INFO]: ${message}\n`
const log = (...messages: string[]) => {
  mkdirSync(join(folder, 'logs'), { recursive: true })
  appendFileSync(join(folder, 'logs/latest.log'), messages.map(line).join(''))
}
const read = async () => (await source.poll(new AbortController().signal)).fields
/** Root may read everything, so the test runs as a user who may not. */
async function asOtherUser<T>(action: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    return await action()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}
/** How many times a timer of 10 ms fires during the work: hardly at all if that holds the event loop. */
async function firingsDuring(work: () => Promise<unknown>): Promise<number> {
  let firings = 0
  const timer = setInterval(() => firings++, 10)
  await work()
  clearInterval(timer)
  return firings
}
const overload = "Can't keep up! Is the server overloaded? Running 2034ms or 40 ticks behind"

describe('the files', () => {
  it('provide the settings', async () => {
    write(
      'server.properties',
      'motd=\\u00A7aHi\nserver-ip=192.0.2.7\nserver-port=25570\ngamemode=adventure\nmax-players=50\nlevel-name=my world\ndifficulty=hard\nview-distance=12\npause-when-empty-seconds=-1\n',
    )
    write('server-icon.png', Buffer.from('icon'))
    expect(await read()).toEqual({
      edition: 'java',
      motd: 'Hi',
      ip: '192.0.2.7',
      port: 25570,
      defaultGameMode: 'ADVENTURE',
      playersMax: 50,
      levelName: 'my world',
      difficulty: 'hard',
      viewDistance: 12,
      pauseWhenEmpty: -1,
      favicon: Buffer.from('icon'),
    })
  })

  it('of old servers contain modes as numbers; invalid values are omitted', async () => {
    write('server.properties', 'gamemode=1\ndifficulty=0\nmax-players=lots\nserver-port=0\nserver-ip=\n')
    expect(await read()).toEqual({ edition: 'java', defaultGameMode: 'CREATIVE', difficulty: 'peaceful' })
  })

  it.each([
    [
      'Fabric',
      '0.16.10',
      'libraries/net/fabricmc/fabric-loader/0.16.9/x.jar',
      'libraries/net/fabricmc/fabric-loader/0.16.10/x.jar',
    ],
    ['Quilt', '0.20.0', 'libraries/org/quiltmc/quilt-loader/0.20.0/x.jar', 'libraries/net/fabricmc/fabric-loader/0.14.0/x.jar'],
    ['NeoForge', '21.1.77', 'libraries/net/neoforged/neoforge/21.1.77/x.jar'],
    ['NeoForge', '47.1.106', 'libraries/net/neoforged/forge/1.20.1-47.1.106/x.jar'],
    ['Forge', '47.2.0', 'libraries/net/minecraftforge/forge/1.20.1-47.2.0/x.jar'],
  ])('contain %s %s', async (loader, loaderVersion, ...paths) => {
    write('server.properties', 'motd=x')
    for (const path of paths) write(path, '')
    expect(await read()).toMatchObject({ loader, loaderVersion, software: loader })
  })

  it.each([
    ['1.21.4-232-12d8fe0 (MC: 1.21.4)', 'Paper', '232'],
    ['git-Paper-196 (MC: 1.20.1)', 'Paper', '196'],
    ['git-Purpur-2062 (MC: 1.20.1)', 'Purpur', '2062'],
  ])('show %s', async (currentVersion, loader, loaderVersion) => {
    write('version_history.json', JSON.stringify({ oldVersion: null, currentVersion }))
    expect(await read()).toMatchObject({ loader, loaderVersion })
  })

  it('contain Forge up to 1.12.2, which is only found in the log', async () => {
    write('server.properties', 'motd=x')
    log('Starting minecraft server version 1.12.2', 'MinecraftForge v14.23.5.2860 Initialized')
    expect(await read()).toMatchObject({ version: '1.12.2', loader: 'Forge', loaderVersion: '14.23.5.2860' })
  })

  it('report a server without a loader as vanilla once the version is in the log', async () => {
    write('server.properties', 'motd=x')
    expect((await read()).loader).toBeUndefined()
    log('Starting minecraft server version 1.21.11')
    const fields = await read()
    expect(fields).toMatchObject({ loader: 'vanilla', version: '1.21.11' })
    expect(fields.loaderVersion).toBeUndefined()
  })

  it('are missing: the error names the folder', async () => {
    await expect(read()).rejects.toMatchObject({
      code: 'unsupported',
      message: 'server: server.properties does not exist or is empty',
    })
  })

  it('are missing with their folder: only the failed poll reports it, without the path', async () => {
    write('server.properties', 'motd=x')
    write('libraries/net/fabricmc/fabric-loader/0.16.10/x.jar', '')
    log('Starting minecraft server version 1.21.11')
    await read()
    rmSync(folder, { recursive: true })
    await expect(read()).rejects.toMatchObject({
      code: 'unreachable',
      message: 'server: the folder does not exist; is it mounted?',
    })
    writeFileSync(folder, '')
    await expect(read()).rejects.toMatchObject({ code: 'unreachable' })
    expect(warn).not.toHaveBeenCalled()
  })

  it('are not readable: reported without their path', async () => {
    write('server.properties', 'motd=x')
    chmodSync(base, 0o755)
    chmodSync(join(folder, 'server.properties'), 0)
    const message = 'server: server.properties is not readable by the user that runs this service'
    await expect(asOtherUser(read)).rejects.toMatchObject({ code: 'refused', message })
    // access() checks the real user of the process, which stays root.
    if (process.getuid?.() === 0) return
    chmodSync(folder, 0)
    const denied = 'server: the folder is not readable by the user that runs this service'
    await expect(read()).rejects.toMatchObject({ code: 'refused', message: denied })
    chmodSync(folder, 0o700)
  })
})

describe('the log', () => {
  const counts = async () => {
    const { overloadWarnings, overloadSkippedTicks, logJoins, logLeaves } = await read()
    return [overloadWarnings, overloadSkippedTicks, logJoins, logLeaves]
  }

  it('is used for the start if it existed before, and counts later events', async () => {
    log('Starting minecraft server version 1.21.11', 'Done (3.5s)! For help, type "help"', 'Alice joined the game', overload)
    expect(await read()).toMatchObject({ version: '1.21.11', startupDuration: 3.5, overloadWarnings: 0, logJoins: 0 })
    log('Bob joined the game', overload, overload, 'Alice left the game')
    expect(await counts()).toEqual([2, 80, 1, 1])
    expect(await counts()).toEqual([2, 80, 1, 1])
  })

  it('is read line by line, even if a line arrives in two parts', async () => {
    log('Starting')
    await read()
    const whole = line('Bob joined the game')
    appendFileSync(join(folder, 'logs/latest.log'), whole.slice(0, 40))
    expect(await counts()).toEqual([0, 0, 0, 0])
    appendFileSync(join(folder, 'logs/latest.log'), whole.slice(40))
    expect(await counts()).toEqual([0, 0, 1, 0])
  })

  it('is followed across a rotation, including the last lines of the old file', async () => {
    log('Starting minecraft server version 1.21.10', 'Done (9s)!')
    await read()
    log('Bob joined the game')
    renameSync(join(folder, 'logs/latest.log'), join(folder, 'logs/2025-01-01-1.log'))
    expect(await counts()).toEqual([0, 0, 1, 0])
    log('Starting minecraft server version 1.21.11', 'Alice joined the game')
    expect(await read()).toMatchObject({ version: '1.21.11', logJoins: 2 })
    expect((await read()).startupDuration).toBeUndefined()
  })

  it('is read on if a longer copy replaces it, as when a folder is synchronised', async () => {
    log('Starting minecraft server version 1.21.11', overload)
    await read()
    log('Bob joined the game')
    expect(await counts()).toEqual([0, 0, 1, 0])
    const path = join(folder, 'logs/latest.log')
    cpSync(path, `${path}.copy`)
    renameSync(`${path}.copy`, path)
    log('Alice joined the game')
    expect(await read()).toMatchObject({ version: '1.21.11', overloadWarnings: 0, logJoins: 2 })
  })

  it('is read on if its folder vanishes and returns as a copy', async () => {
    write('server.properties', 'motd=x')
    log('Starting minecraft server version 1.21.11', overload)
    await read()
    renameSync(folder, `${folder}.old`)
    await expect(read()).rejects.toMatchObject({ code: 'unreachable' })
    cpSync(`${folder}.old`, folder, { recursive: true })
    log('Alice joined the game')
    expect(await counts()).toEqual([0, 0, 1, 0])
  })

  it('is another one if it differs, although it is longer', async () => {
    log('Starting minecraft server version 1.21.10', overload)
    await read()
    const path = join(folder, 'logs/latest.log')
    renameSync(path, `${path}.old`)
    log('Starting minecraft server version 1.21.11', 'Alice joined the game', overload)
    expect(await read()).toMatchObject({ version: '1.21.11', overloadWarnings: 1, logJoins: 1 })
  })

  it('is followed across a truncation', async () => {
    log('Starting minecraft server version 1.21.10', overload, overload)
    await read()
    truncateSync(join(folder, 'logs/latest.log'))
    log('Bob joined the game')
    expect(await counts()).toEqual([0, 0, 1, 0])
  })

  it('is counted from its first line if it did not exist before', async () => {
    write('server.properties', 'motd=x')
    expect((await read()).overloadWarnings).toBeUndefined()
    log('Bob joined the game')
    expect(await counts()).toEqual([0, 0, 1, 0])
  })

  it('of any size and content is read in bounded steps', async () => {
    log('Starting minecraft server version 1.21.11')
    await read()
    appendFileSync(join(folder, 'logs/latest.log'), Buffer.alloc(9 * 1024 * 1024, 'x'))
    log('', 'Bob joined the game')
    const seen: unknown[] = []
    for (let poll = 0; poll < 4; poll++) seen.push((await read()).logJoins)
    expect(seen).toEqual([0, 0, 1, 1])
  })
})

describe('nothing outside of the folder is read', () => {
  it.each(['server.properties', 'server-icon.png', 'logs/latest.log', 'version_history.json'])(
    'through a link: %s',
    async (path) => {
      writeFileSync(join(base, 'outside'), 'motd=secret\n[12:34:56] [main/INFO]: Starting minecraft server version 9\n')
      write('level.txt', '')
      mkdirSync(join(folder, 'logs'))
      symlinkSync(join(base, 'outside'), join(folder, path))
      const thrown = await read().then(
        () => Promise.reject(new Error('it should have failed')),
        (error: SourceError) => error,
      )
      expect(thrown.code).toBe('unsupported')
      await expect(read()).rejects.toThrow(thrown.message)
      expect(thrown.message.split('; ')).toContain(`server: ${path} is outside of the folder and is not read`)
    },
  )

  it('through a folder that is a link', async () => {
    mkdirSync(join(base, 'logs'))
    writeFileSync(join(base, 'logs/latest.log'), line('Starting minecraft server version 9'))
    symlinkSync(join(base, 'logs'), join(folder, 'logs'))
    write('server.properties', 'motd=x')
    expect(await read()).toEqual({ edition: 'java', motd: 'x' })
  })

  it('but a link within it is followed', async () => {
    write('config/real.properties', 'motd=x')
    symlinkSync('config/real.properties', join(folder, 'server.properties'))
    expect((await read()).motd).toBe('x')
  })

  it('nor a pipe, nor a file that is too large', async () => {
    execFileSync('mkfifo', [join(folder, 'server.properties')])
    write('server-icon.png', Buffer.alloc(2 * 1024 * 1024))
    write('version_history.json', '{"currentVersion":"git-Paper-1 (MC: 1.20.1)"}')
    const { fields, failures } = await source.poll(new AbortController().signal)
    expect(fields).toEqual({ edition: 'java', loader: 'Paper', loaderVersion: '1', software: 'Paper' })
    expect(failures).toMatchObject([{ code: 'unsupported' }, { code: 'too_large' }])
  })
})

it('closes all files', async () => {
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
      } catch {
        return false
      }
    })
  write('server.properties', 'motd=x')
  log('Starting')
  for (let poll = 0; poll < 50; poll++) await read()
  expect(openFiles()).toHaveLength(1)
  source.close()
  await until(() => openFiles().length === 0)
})

describe('a folder without a configured address', () => {
  /** The log and /api/v1/sources after two polls. */
  async function watched(settings: GivenSources = {}) {
    const fleet = createFleet({
      servers: [{ name: 'survival', sources: { directory: { path: folder }, ...settings } }],
      poll: { interval: 5_000, timeout: 3_000, staleAfter: 15_000 },
      clock,
      log: context.log,
      createSources,
    })
    const app = await buildApp({ config: loadConfig({ env: {} }), fleet, clock, logger: pino({ level: 'silent' }) })
    onTestFinished(async () => {
      fleet.close()
      await app.close()
    })
    const poll = async () => {
      await fleet.watchers[0]!.poll()
      const reply = (await app.inject('/api/v1/sources')).body
      expect(reply).not.toContain(base)
      const { sources } = JSON.parse(reply) as { sources: { source: string; state: string; lastError: { message: string } }[] }
      return sources.find(({ source }) => source === 'directory')
    }
    await poll()
    return { app, poll, directory: await poll(), logged: warn.mock.calls.map(([, message]) => String(message)) }
  }

  it('and without server.properties is reported once, with a hint', async () => {
    log('Starting minecraft server version 1.21.11')
    const { logged, directory } = await watched()
    expect(directory).toMatchObject({ state: 'failed', target: 'server', lastError: { code: 'unsupported' } })
    expect(directory?.lastError.message).toMatch(
      /server\.properties does not exist or is empty.*set the folder that contains this file/,
    )
    expect(logged).toEqual([expect.stringContaining(`survival: directory failed (unsupported): ${directory?.lastError.message}`)])
  })

  it('and with server.properties outside is reported once, with a hint', async () => {
    log('Starting minecraft server version 1.21.11')
    writeFileSync(join(base, 'outside'), 'server-port=25570')
    symlinkSync(join(base, 'outside'), join(folder, 'server.properties'))
    const { logged, directory } = await watched()
    expect(directory).toMatchObject({ state: 'failed', lastError: { code: 'unsupported' } })
    expect(directory?.lastError.message).toMatch(
      /server\.properties is outside of the folder.*set the folder that contains this file/,
    )
    expect(logged).toEqual([expect.stringContaining('survival: ')])
  })

  it('keeps the last address if server.properties disappears', async () => {
    write('server.properties', 'server-port=1')
    const fleet = createFleet({
      servers: [{ name: 'survival', sources: { directory: { path: folder } } }],
      poll: { interval: 5_000, timeout: 3_000, staleAfter: 15_000 },
      clock,
      log: silentLog,
      createSources,
    })
    onTestFinished(() => fleet.close())
    await fleet.watchers[0]!.poll()
    log('Starting minecraft server version 1.21.11')
    write('server.properties', '')
    const { sources } = await fleet.watchers[0]!.poll()
    expect(sources).toMatchObject([
      { source: 'status', target: '127.0.0.1:1' },
      { source: 'directory', state: 'ok' },
    ])
  })

  it('is read without server.properties if the address is set: partial, with one line in the log', async () => {
    log('Starting minecraft server version 1.21.11')
    const { logged, directory } = await watched({ status: { address: { edition: 'java', host: '127.0.0.1', port: 1 } } })
    expect(directory).toMatchObject({ state: 'partial', lastError: { code: 'unsupported' } })
    expect(directory?.lastError.message).toMatch(/server\.properties does not exist or is empty/)
    expect(logged.filter((message) => message.includes('server.properties'))).toHaveLength(1)
  })

  it('is partial while some of its files cannot be read, with which and since when, and ok after', async () => {
    write('server.properties', 'server-port=1')
    for (const name of ['server-icon.png', 'logs']) {
      writeFileSync(join(base, name), '')
      symlinkSync(join(base, name), join(folder, name))
    }
    mkdirSync(join(base, 'elsewhere'))
    rmSync(join(folder, 'logs'))
    symlinkSync(join(base, 'elsewhere'), join(folder, 'logs'))
    writeFileSync(join(base, 'elsewhere', 'latest.log'), '')
    const { app, poll, logged, directory } = await watched()
    const lastError = {
      code: 'unsupported',
      message: expect.stringMatching(/^server: server-icon\.png .*; server: logs\/latest\.log /),
      at: new Date(clock.wall()).toISOString(),
    }
    expect(directory).toMatchObject({ state: 'partial', lastError, lastSuccess: lastError.at })
    expect(logged.filter((message) => !message.includes('status'))).toEqual([
      expect.stringMatching(/^survival: parts of directory failed .*server-icon\.png.*logs\/latest\.log/),
    ])
    expect((await app.inject('/metrics')).body).toContain('minecraft_source_up{server="survival",source="directory"} 1')
    const page = (await app.inject({ url: '/servers/survival', headers: { accept: 'text/html' } })).body
    expect(page).toContain('partial')

    clock.advance(1_000)
    expect(await poll()).toMatchObject({ state: 'partial', lastError })
    for (const name of ['server-icon.png', 'logs']) rmSync(join(folder, name))
    expect(await poll()).toMatchObject({ state: 'ok', lastError })
  })

  it('that disappears is reported in one line, without its path', async () => {
    rmSync(folder, { recursive: true })
    const { logged, directory } = await watched()
    mkdirSync(folder)
    expect(directory).toMatchObject({ state: 'failed', lastError: { code: 'unreachable' } })
    expect(logged).toEqual(['survival: directory failed (unreachable): server: the folder does not exist; is it mounted?'])
  })
})

/** The error of a source of a server whose directory is `folder`, after one poll. */
async function errorOf(name: SourceName, settings: GivenSources = {}): Promise<string | undefined> {
  const fleet = createFleet({
    servers: [{ name: 'survival', sources: { directory: { path: folder }, ...settings } }],
    poll: { interval: 5_000, timeout: 3_000, staleAfter: 15_000 },
    clock: systemClock,
    log: silentLog,
    createSources,
  })
  onTestFinished(() => fleet.close())
  const { sources } = await fleet.watchers[0]!.poll()
  return sources.find(({ source }) => source === name)?.error?.message
}

it('does not mention MC_MANAGEMENT_SECRET if the server rejects the secret from its directory', async () => {
  const server = await managementServer()
  onTestFinished(() => server.close())
  write(
    'server.properties',
    `server-port=1\nmanagement-server-enabled=true\nmanagement-server-port=${server.port}\nmanagement-server-tls-enabled=false\nmanagement-server-secret=${'b'.repeat(40)}\n`,
  )
  const message = await errorOf('management')
  expect(message).toMatch(/management-server-secret that server\.properties \(MC_DIRECTORY\) has now/)
  expect(message).not.toContain('MC_MANAGEMENT_SECRET')
  expect(await errorOf('management', { management: { secret: 'c'.repeat(40) } })).toContain('MC_MANAGEMENT_SECRET')
})

it('does not mention MC_RCON_PASSWORD if the server rejects the password from its directory', async () => {
  const demo = await startDemoServer({ rconPassword: 'right' })
  onTestFinished(() => demo.close())
  write(
    'server.properties',
    `server-port=${demo.address.port}\nenable-rcon=true\nrcon.port=${demo.rcon.address.port}\nrcon.password=wrong\n`,
  )
  const message = await errorOf('rcon')
  expect(message).toMatch(/rejected.*server\.properties \(MC_DIRECTORY\) has now/)
  expect(message).not.toContain('MC_RCON_PASSWORD')
  expect(await errorOf('rcon', { rcon: { password: 'also wrong' } })).toContain('MC_RCON_PASSWORD')
})

describe('the settings it completes', () => {
  let set: SourceSet | undefined
  afterEach(() => {
    set?.close()
    set = undefined
  })
  const targets = async (settings: GivenSources = {}) => {
    set ??= createSources({ name: 'Server', sources: { directory: { path: folder }, ...settings } }, context)
    await set.refresh?.()
    return Object.fromEntries(set.list().map(({ name, target }) => [name, target]))
  }
  const everything = [
    'server-port=25570',
    'enable-rcon=true',
    'rcon.port=25580',
    'rcon.password=pass',
    'enable-query=true',
    'query.port=25571',
    'management-server-enabled=true',
    'management-server-port=25590',
    'management-server-secret=secret',
    'management-server-tls-enabled=false',
  ].join('\n')

  it('are all of them, from the folder alone', async () => {
    write('server.properties', everything)
    expect(await targets()).toEqual({
      status: '127.0.0.1:25570',
      rcon: '127.0.0.1:25580',
      management: 'ws://127.0.0.1:25590',
      query: '127.0.0.1:25571',
      directory: 'server',
    })
  })

  it('are only those of enabled protocols', async () => {
    write('server.properties', everything.replaceAll('=true', '=false').concat('\nserver-ip=192.0.2.7'))
    expect(await targets()).toEqual({ status: '192.0.2.7:25570', directory: 'server' })
  })

  it('omit invalid addresses', async () => {
    write('server.properties', `${everything}\nmanagement-server-host=no such host\n`)
    expect(await targets()).toEqual({
      status: '127.0.0.1:25570',
      rcon: '127.0.0.1:25580',
      query: '127.0.0.1:25571',
      directory: 'server',
    })
  })

  it('never override explicit settings', async () => {
    write('server.properties', everything)
    const given = await targets({
      status: { address: { edition: 'java', host: '192.0.2.1', port: 1 } },
      rcon: { address: { host: '192.0.2.2', port: 2 } },
      query: { address: { host: '192.0.2.3', port: 3 } },
      management: { url: 'ws://192.0.2.4:4/', secret: 'x' },
    })
    expect(given).toEqual({
      status: '192.0.2.1:1',
      rcon: '192.0.2.2:2',
      query: '192.0.2.3:3',
      management: 'ws://192.0.2.4:4',
      directory: 'server',
    })
  })

  it('are updated when the properties change, and kept while they are being written', async () => {
    write('server.properties', everything)
    await targets()
    const [status, rcon] = set!.list()
    write('server.properties', '')
    expect(Object.keys(await targets())).toHaveLength(5)
    write('server.properties', everything.replace('25580', '25581').replace('enable-query=true', 'enable-query=false'))
    expect(await targets()).toEqual({
      status: '127.0.0.1:25570',
      rcon: '127.0.0.1:25581',
      management: 'ws://127.0.0.1:25590',
      directory: 'server',
    })
    expect(set!.list()[0]).toBe(status)
    await expect(rcon!.poll(new AbortController().signal)).rejects.toMatchObject({ code: 'aborted' })
  })

  it.skipIf(!hasTool('openssl'))('pin the certificate of the server by its own keystore', async () => {
    const certificate = selfSigned()
    const server = await managementServer(certificate)
    write('keystore.p12', execFileSync('cat', [certificate.keystore]))
    write(
      'server.properties',
      `management-server-enabled=true\nmanagement-server-port=${server.port}\nmanagement-server-secret=${server.secret}\nmanagement-server-tls-keystore=keystore.p12\nmanagement-server-tls-keystore-password=${certificate.keystorePassword}\n`,
    )
    await targets()
    const management = set!.list().find(({ name }) => name === 'management')!
    expect((await management.poll(new AbortController().signal)).fields.version).toBe('1.21.11')
    await server.close()
    rmSync(certificate.folder, { recursive: true })
  })

  it.skipIf(!hasTool('openssl'))('wait for a keystore that takes long to decrypt, and nothing else does', async () => {
    const { folder: made, keystorePassword } = selfSigned()
    const files = ['-inkey', join(made, 'key.pem'), '-in', join(made, 'cert.pem'), '-passout', `pass:${keystorePassword}`]
    const pfx = execFileSync('openssl', ['pkcs12', '-export', ...files, '-iter', '70000'], { stdio: 'pipe' })
    rmSync(made, { recursive: true })
    // 8,388,607 rounds in place of 70,000.
    const rounds = pfx.lastIndexOf(Buffer.from('0203011170', 'hex'))
    expect(rounds).toBeGreaterThan(0)
    write('keystore.p12', Buffer.concat([pfx.subarray(0, rounds), Buffer.from('02037fffff', 'hex'), pfx.subarray(rounds + 5)]))
    write(
      'server.properties',
      `management-server-tls-keystore=keystore.p12\n${everything.replace('tls-enabled=false', 'tls-enabled=true')}\nmanagement-server-tls-keystore-password=${keystorePassword}`,
    )
    expect(await firingsDuring(() => targets())).toBeGreaterThan(20)
    expect(await targets()).toMatchObject({ management: 'wss://127.0.0.1:25590' })
  })

  it('do not depend on the number of secrets in the properties', async () => {
    const secrets = Array.from({ length: 40_000 }, (_, index) => `password${index}=${index}abcdef`).join('\n')
    write('server.properties', `${everything}\n${secrets}`)
    expect(await targets()).toMatchObject({ rcon: '127.0.0.1:25580' })
  })
})
