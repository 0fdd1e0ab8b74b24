import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasTool, isSupported } from './helpers/require-tool.ts'
import { freePort } from './helpers/run-tool.ts'
import { until } from './helpers/until.ts'
import { ensure } from './tools/ensure.mjs'
import { userCache } from './tools/user-cache.mjs'

const root = join(import.meta.dirname, '..')
const base = 'localhost/node-of-test:24'
const maxMemory = 128 * 1024 * 1024
const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], cwd: root, maxBuffer: 1e8 }).trim()

/** A small Debian, made once by debootstrap, which takes minutes. */
function debian(): string {
  const made = join(userCache, 'debian')
  if (existsSync(made)) return made
  mkdirSync(userCache, { recursive: true })
  const folder = mkdtempSync(join(userCache, 'debian-'))
  run('debootstrap', '--variant=minbase', 'bookworm', folder)
  renameSync(folder, made)
  return made
}

/** An archive of that Debian with Node.js 24, npm and the user node, as in the official image. */
async function baseArchive(folder: string): Promise<string> {
  await ensure('test/nodes')
  const system = join(folder, 'base')
  run('cp', '--archive', debian(), system)
  cpSync(join(root, 'test/nodes/node_modules/node-24/bin/node'), join(system, 'usr/local/bin/node'))
  const npm = join(system, 'usr/local/lib/node_modules/npm')
  cpSync(join(run('npm', 'root', '--global'), 'npm'), npm, { recursive: true })
  run('ln', '--symbolic', '../lib/node_modules/npm/bin/npm-cli.js', join(system, 'usr/local/bin/npm'))
  run('chroot', system, 'useradd', '--uid', '1000', '--create-home', 'node')
  // The authority of a proxy on this machine.
  const { NODE_EXTRA_CA_CERTS: authority } = process.env
  if (authority) {
    mkdirSync(dirname(join(system, authority)), { recursive: true })
    cpSync(authority, join(system, authority))
  }
  run('tar', '--create', '--directory', system, '--file', join(folder, 'base.tar'), '.')
  return join(folder, 'base.tar')
}

/** A control group with limited memory, where this process may make one. */
function limitMemory(): string | undefined {
  for (const [parent, limit] of [
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
    ['/sys/fs/cgroup', 'memory.max'],
  ] as const) {
    const group = join(parent, `tickwarden-${process.pid}`)
    try {
      mkdirSync(group)
      writeFileSync(join(group, limit), String(maxMemory))
      return group
    } catch {
      rmSync(group, { recursive: true, force: true })
    }
  }
  return undefined
}

const isPossible =
  isSupported(process.env.LONG_TESTS === '1', 'LONG_TESTS=1 is not set') &&
  isSupported(process.getuid?.() === 0 && process.arch === 'x64', 'needs root on Linux on x64') &&
  ['buildah', 'podman', 'debootstrap', 'unshare'].every(hasTool)

describe.skipIf(!isPossible)('the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'image-'))
  const storage = ['--storage-driver=vfs', '--root', join(folder, 'storage'), '--runroot', join(folder, 'run')]
  const build = (...args: readonly string[]): string => run('buildah', ...storage, ...args)
  const children = new Set<ChildProcess>()
  let mounted = ''
  let container = ''
  let group: string | undefined

  beforeAll(async () => {
    const authority = process.env.NODE_EXTRA_CA_CERTS
    const change = authority ? ['--change', `ENV NODE_EXTRA_CA_CERTS=${authority}`] : []
    run('podman', ...storage, 'import', ...change, await baseArchive(folder), base)
    const args = ['--build-arg', `NODE_IMAGE=${base}`, '--build-arg', 'VERSION=1.2.3', '--build-arg', 'REVISION=abc']
    build('bud', '--format', 'docker', '--isolation', 'chroot', '--network', 'host', ...args, '--tag', 'tickwarden', '.')
    container = build('from', 'tickwarden')
    mounted = build('mount', container)
    group = limitMemory()
  }, 900_000)
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    if (container !== '') build('rm', container)
    rmSync(folder, { recursive: true, force: true })
    // The processes of the group end a moment after their parent.
    if (group !== undefined) await until(() => readFileSync(join(group ?? '', 'cgroup.procs'), 'utf8') === '')
    if (group !== undefined) rmdirSync(group)
  })

  /** The image's command with these arguments, as its user, without capabilities, with a read-only root and limited memory. */
  function start(env: Readonly<Record<string, string>>, ...args: readonly string[]): ChildProcess {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const script = `
      ${group === undefined ? '' : `echo $$ > ${group}/cgroup.procs`}
      mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t proc proc "$0/proc" && cd "$0" || exit
      exec chroot . setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set -all --inh-caps -all --no-new-privs \
        env --ignore-environment --chdir /config PATH=/usr/local/bin:/usr/bin:/bin NODE_OPTIONS=--v8-pool-size=1 "$@"`
    const command = ['node', '/app/dist/src/main.js']
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, mounted, ...variables, ...command, ...args], { stdio: 'pipe' })
    children.add(child)
    return child
  }

  it('says how it is run', () => {
    const { Docker } = JSON.parse(build('inspect', '--type', 'image', 'tickwarden'))
    expect(Docker.config).toMatchObject({
      User: 'node',
      WorkingDir: '/config',
      Entrypoint: ['node', '/app/dist/src/main.js'],
      StopSignal: 'SIGTERM',
      Healthcheck: { Test: ['CMD', 'node', '/app/dist/src/main.js', 'healthcheck'] },
      ExposedPorts: { '8080/tcp': {} },
      Labels: expect.objectContaining({
        'org.opencontainers.image.title': 'Tickwarden',
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.revision': 'abc',
        'org.opencontainers.image.licenses': 'MIT',
      }),
    })
  })

  it('answers as node, with a read-only root, without capabilities and within 128 MB, and stops on SIGTERM', async () => {
    const port = String(await freePort())
    const service = start({ HOST: '127.0.0.1', PORT: port })
    let log = ''
    for (const stream of [service.stdout, service.stderr]) stream?.on('data', (data) => (log += data))
    await until(async () => {
      if (service.exitCode !== null) throw new Error(log)
      return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok === true
    })
    for (const path of ['', 'metrics', 'api/v1/getall', 'api/v1/banner.png', 'v1/kcomebacks/filter/getinfo', 'docs/'])
      expect([path, (await fetch(`http://127.0.0.1:${port}/${path}`)).status]).toEqual([path, 200])
    const state = readFileSync(`/proc/${service.pid}/status`, 'utf8')
    expect(state).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m)
    expect(state).toMatch(/^CapBnd:\t0+$/m)
    // Without a control group: what the system cannot take back, unlike the pages of Node's own binary.
    expect(Number(/^RssAnon:\s*(\d+) kB$/m.exec(state)?.[1]) * 1024).toBeLessThan(maxMemory)
    expect(() => writeFileSync(`/proc/${service.pid}/root/app/file`, '')).toThrow(/EROFS/)
    const [code] = await once(start({ PORT: port }, 'healthcheck'), 'exit')
    expect(code).toBe(0)
    service.kill('SIGTERM')
    expect(await once(service, 'exit')).toEqual([0, null])
    const [failed] = await once(start({ PORT: port }, 'healthcheck'), 'exit')
    expect(failed).toBe(1)
  })

  it('is made for another processor on this one', { timeout: 900_000 }, () => {
    const stage = ['--isolation', 'chroot', '--network', 'host', '--build-arg', `NODE_IMAGE=${base}`, '--target', 'build']
    build('bud', ...stage, '--build-arg', 'TARGETARCH=arm64', '--tag', 'stage', '.')
    const other = build('from', 'stage')
    const modules = join(build('mount', other), 'app/node_modules/@img')
    expect([existsSync(join(modules, 'sharp-linux-arm64')), existsSync(join(modules, 'sharp-linux-x64'))]).toEqual([true, false])
    build('rm', other)
  })
})
