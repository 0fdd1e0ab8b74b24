import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { packProject } from './helpers/packed-project.ts'
import { hasRegistry, isSupported } from './helpers/require-tool.ts'
import { ensure } from './tools/ensure.mjs'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)
const versions = ['node-20', 'node-22', 'node-24'] as const
type Version = (typeof versions)[number]
/** Installs the package with each version. */
const isLong = process.env.LONG_TESTS === '1'

const binaryOf = (version: Version | 'node-18'): string => join(root, 'test', 'nodes', 'node_modules', version, 'bin', 'node')

/** As in a shell: with the variables of `npm test`, npm would operate on this project. */
const environment = (node: string) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_(?!config)|VITEST|NODE_ENV|INIT_CWD|TEST)/.test(name)),
  ),
  PATH: [dirname(node), process.env.PATH].join(delimiter),
})

const children = new Set<ChildProcess>()
afterEach(async () => {
  const running = [...children].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  children.clear()
  await Promise.all(running.map((child) => [once(child, 'exit'), child.kill('SIGKILL')][0]))
})

/** Starts the installed command, and returns the first match of the pattern in its output. */
async function start(folder: string, node: string, args: readonly string[], pattern: RegExp): Promise<[string, ChildProcess]> {
  const child = spawn(join(folder, 'node_modules', '.bin', 'tickwarden'), args, { cwd: folder, env: environment(node) })
  children.add(child)
  let output = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk
        if (pattern.test(output)) resolve([output, child])
      })
    }
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`ended with ${code} before ${pattern}:\n${output}`)))
  })
}

const isPossible =
  isSupported(process.platform === 'linux' && process.arch === 'x64', 'test/nodes is for Linux on x64') && hasRegistry()

describe.skipIf(!isPossible)('the packed tarball, installed in an empty folder', () => {
  let tarball = ''
  let installation = ''
  const folder = mkdtempSync(join(tmpdir(), 'installed-'))
  const npm = join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm', 'bin', 'npm-cli.js')

  /** Runs npm with one of the versions. @returns what it reports */
  async function runNpm(version: Version, into: string, ...args: readonly string[]): Promise<string> {
    const node = binaryOf(version)
    const options = ['--engine-strict', '--prefer-offline', '--no-audit', '--no-fund']
    return (await run(node, [npm, ...args, ...options], { cwd: into, env: environment(node) })).stderr
  }

  // One installation serves all versions, because no dependency is compiled for one of them.
  beforeAll(async () => {
    await ensure('test/nodes')
    tarball = (await packProject()).tarball
    installation = await runNpm('node-20', folder, 'install', tarball)
  }, 600_000)

  it.each(versions)(
    'can be installed with --engine-strict and without a warning on %s',
    { timeout: 600_000 },
    async (version) => {
      const [into, ...command] = isLong
        ? [mkdtempSync(join(tmpdir(), `${version}-`)), 'install', tarball]
        : [folder, 'ci', '--dry-run']
      const report = version === 'node-20' ? installation : await runNpm(version, into, ...command)
      expect(report).not.toMatch(/EBADENGINE|deprecated/)
    },
  )

  it('is below 3 MB, and has what a user needs next to the program', () => {
    expect(statSync(tarball).size).toBeLessThan(3_000_000)
    const installed = join(folder, 'node_modules', 'tickwarden')
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    for (const path of [
      ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE', 'src/data/sample/projects.json'],
      ...['grafana/dashboards/server.json', 'grafana/alerts/tickwarden.rules.yaml', 'examples/tickwarden.service'],
    ])
      expect(files).toContain(path)
    const readme = readFileSync(join(installed, 'README.md'), 'utf8')
    for (const [, picture = ''] of readme.matchAll(/!\[[^\]]*\]\((docs[^)]*)\)/g)) expect(files).toContain(picture)
    expect(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))).toMatchObject({
      repository: { type: 'git' },
      homepage: expect.stringMatching(/^https:/),
      bugs: { url: expect.stringMatching(/^https:/) },
      funding: expect.stringMatching(/^https:/),
      keywords: expect.arrayContaining(['minecraft', 'prometheus-exporter']),
    })
  })

  it.each(versions)('serves API, page, pictures, history and data on %s', async (version) => {
    const [output, child] = await start(folder, binaryOf(version), ['--port', '0'], /http:\/\/127\.0\.0\.1:[1-9]\d*/)
    const url = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(output)?.[0]
    await expect.poll(async () => (await fetch(`${url}/api/v1/getall`)).status).toBe(200)
    const page = await (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).text()
    const [asset] = /page\/assets\/[^"]+\.js/.exec(page) ?? []
    for (const path of [
      asset,
      'api/v1/badge.svg',
      'api/v1/history?field=latency',
      'v1/kcomebacks/filter/getinfo',
      'metrics',
      'docs/',
    ]) {
      expect([path, (await fetch(`${url}/${path}`)).status]).toEqual([path, 200])
    }
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(0)
  })

  it.each([
    ['the command', 'tickwarden'],
    ['npx', 'npx tickwarden'],
    ['npm start', 'npm start --silent'],
    ['node', 'node dist/src/main.js'],
  ])('prints one line and exits with 1 on a version that is too old: %s', async (_name, command) => {
    // Without the code and its dependencies: nothing of them is loaded.
    const folder = mkdtempSync(join(tmpdir(), 'node-18-'))
    mkdirSync(join(folder, 'src'))
    mkdirSync(join(folder, 'dist', 'src'), { recursive: true })
    for (const name of ['package.json', 'src/start.mjs', 'src/check-node.mjs', 'dist/src/main.js']) {
      copyFileSync(join(root, name), join(folder, name))
    }
    mkdirSync(join(folder, 'bin'))
    symlinkSync(join(folder, 'src', 'start.mjs'), join(folder, 'bin', 'tickwarden'))
    const { PATH, ...others } = environment(binaryOf('node-18'))
    const env = { ...others, PATH: [join(folder, 'bin'), PATH].join(delimiter), npm_config_loglevel: 'silent' }
    await expect(run('sh', ['-c', command], { cwd: folder, env })).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^Tickwarden needs Node\.js 20\.19 or later, but \S+ is Node\.js 18\.\d+\.\d+; install .*\n$/,
      ),
    })
  })

  describe('its library', () => {
    const version = 'node-20'

    it('reads and watches a server from JavaScript', async () => {
      const [demo] = await start(folder, binaryOf(version), ['demo'], /Press Ctrl\+C/)
      writeFileSync(join(folder, 'consumer.mjs'), consumer.replace(/ as .*$/gm, '').replace(/: ServerWatcher/, ''))
      expect(await runConsumer(folder, 'consumer.mjs', demo)).toEqual(expected)
    })

    it('and from TypeScript, with its own types', async () => {
      const [demo] = await start(folder, binaryOf(version), ['demo'], /Press Ctrl\+C/)
      writeFileSync(
        join(folder, 'package.json'),
        JSON.stringify({ ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')), type: 'module' }),
      )
      writeFileSync(join(folder, 'consumer.ts'), consumer)
      mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true })
      for (const name of ['@types/node', 'undici-types']) {
        const link = join(folder, 'node_modules', name)
        if (!existsSync(link)) symlinkSync(join(root, 'node_modules', name), link)
      }
      const options =
        '--strict --target es2022 --module nodenext --types node --exactOptionalPropertyTypes --outDir out consumer.ts'
      const tsc = join(root, 'node_modules', '.bin', 'tsc')
      await run(tsc, options.split(' '), { cwd: folder }).catch(({ stdout }) => expect(stdout).toBe(''))
      expect(await runConsumer(folder, 'out/consumer.js', demo)).toEqual(expected)
    })
  })
})

/** Typical code of a user of the library. */
const consumer = `
import { readStatus, SourceError, watch } from 'tickwarden'

const [address = '', rcon = '', password = ''] = process.argv.slice(2)
const status = await readStatus(address, { timeout: 10_000 })
const refused = await readStatus('127.0.0.1:1').catch((error) => error instanceof SourceError && error.code)
const aborted = await readStatus(address, { signal: AbortSignal.abort(new Error('mine')) }).catch((error) => error.message)

const watcher = watch({ address, rcon: { address: rcon, password }, interval: 500 })
let polls = 0
let tickTime
for await (const snapshot of watcher) {
  tickTime ??= snapshot.fields.tickDurationMean?.value
  polls = snapshot.polls.ok ?? 0
  if (polls >= 3 && tickTime !== undefined) break
}
const { up } = watcher.snapshot()
watcher.close()
let after = 0
for await (const _ of watcher) after++
console.log(JSON.stringify({ version: status.version, max: status.playersMax, refused, aborted, hasTickTime: typeof tickTime === 'number', up, after }))
`
const expected = { version: '1.21.11', max: 20, refused: 'refused', aborted: 'mine', hasTickTime: true, up: true, after: 0 }

/** Runs it with the demo server that printed `demo`; it must also end by itself. */
async function runConsumer(folder: string, script: string, demo: string): Promise<unknown> {
  const [address, rcon, password] = ['MC_SERVER', 'MC_RCON', 'MC_RCON_PASSWORD'].map(
    (name) => new RegExp(`${name}=(\\S+)`).exec(demo)?.[1] ?? '',
  )
  const node = binaryOf('node-20')
  const { stdout } = await run(node, [script, address!, rcon!, password!], { cwd: folder, env: environment(node) })
  return JSON.parse(stdout)
}
