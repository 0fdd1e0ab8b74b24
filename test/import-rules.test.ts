import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')

interface Imported {
  /** Path of the importing file, relative to the root of the project. */
  readonly file: string
  /** Path relative to the root for files of the project, else the package name. */
  readonly target: string
  readonly own: boolean
}

function sources(): string[] {
  return ['src', 'exporter'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join(folder, path)),
  )
}

const importing =
  /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g

function importsOf(file: string, text: string): Imported[] {
  return [...text.matchAll(importing)].map((match) => {
    const given = match[1] ?? match[2] ?? match[3] ?? ''
    const own = given.startsWith('.')
    return { file, target: own ? relative(root, resolve(root, dirname(file), given)) : given, own }
  })
}

const files = sources()
const imports = files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
const within =
  (...folders: string[]) =>
  (path: string) =>
    folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
const shown = (found: readonly Imported[]) => found.map(({ file, target }) => `${file} imports ${target}`)

describe('the import rules', () => {
  it('are read from real imports', () => {
    const text =
      "import a from 'x'\nimport {\n  b,\n} from './b.ts'\nexport * from \"../c.ts\"\nimport './d.ts'\nconst e = import('./e.ts')"
    expect(importsOf('src/game/z.ts', text).map(({ target }) => target)).toEqual([
      'x',
      'src/game/b.ts',
      'src/c.ts',
      'src/game/d.ts',
      'src/game/e.ts',
    ])
    expect(imports.length).toBeGreaterThan(files.length)
  })

  it('each part imports only parts below it', () => {
    const order = [
      ...['src/util', 'src/settings', 'src/secrets', 'src/game', 'src/demo', 'src/discovery', 'src/http'],
      ...['src/history', 'src/live', 'src/status-api', 'exporter', 'src/web', 'src/cluster', 'src/data'],
      ...['src/config', 'src/app.ts', 'src/library', 'src/commands', 'src/main.ts'],
    ]
    const floorOf = (path: string) => order.findIndex((part) => within(part)(path))
    expect(files.filter((file) => floorOf(file) === -1)).toEqual([])
    expect(shown(imports.filter(({ file, target, own }) => own && floorOf(target) > floorOf(file)))).toEqual([])
  })

  it('game/protocol imports nothing else of the project, except src/util', () => {
    const inside = within('src/game/protocol', 'src/util')
    expect(shown(imports.filter(({ file, target, own }) => inside(file) && own && !inside(target)))).toEqual([])
  })

  it('game does not import the served parts, fastify and prom-client', () => {
    const forbidden = within(
      'src/status-api',
      'src/data',
      'src/history',
      'src/live',
      'src/web',
      'src/cluster',
      'src/http',
      'exporter',
      'fastify',
      '@fastify',
      'prom-client',
    )
    expect(shown(imports.filter(({ file, target }) => within('src/game')(file) && forbidden(target)))).toEqual([])
  })

  it('the served parts never import each other, except that web imports history and live', () => {
    const parts = ['src/status-api', 'exporter', 'src/data', 'src/history', 'src/live', 'src/web', 'src/cluster']
    const isAllowed = (from: string, to: string) => from === 'src/web' && ['src/history', 'src/live'].includes(to)
    const crossing = imports.filter(({ file, target, own }) => {
      const from = parts.find((part) => within(part)(file))
      const to = parts.find((part) => within(part)(target))
      return own && from !== undefined && to !== undefined && from !== to && !isAllowed(from, to)
    })
    expect(shown(crossing)).toEqual([])
  })

  it('only the exporter imports prom-client', () => {
    expect(shown(imports.filter(({ file, target }) => target === 'prom-client' && !within('exporter')(file)))).toEqual([])
  })

  it('only config.ts reads the environment', () => {
    const readers = files.filter((file) =>
      /process\s*\.\s*env\b|from 'node:process'/.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(readers).toEqual(['src/config/config.ts'])
  })

  const filesWith = (pattern: RegExp) =>
    files.filter((file) => !within('src/web/client')(file) && pattern.test(readFileSync(join(root, file), 'utf8')))

  it('only parseJson() parses JSON, except for files of the package and single strings', () => {
    const expected = [
      ...['src/commands/record/anonymiser.ts', 'src/secrets/masked-log.ts', 'src/util/json.ts', 'src/util/package.ts'],
      'src/web/assets.ts',
    ]
    expect(filesWith(/\bJSON\.parse\(|\.json\(\)/).sort()).toEqual(expected.sort())
  })

  it('only files.ts reads whole files, except for those of the package and the kernel', () => {
    const expected = ['src/util/package.ts', 'src/web/assets.ts', 'src/web/pictures/font.ts']
    expect(filesWith(/\breadFile(?:Sync)?\(|\bcreateReadStream\(|\breadFile(?:Sync)?\b.*from 'node:fs/).sort()).toEqual(expected)
  })

  it('only program.ts ends the process', () => {
    const enders = files.filter((file) => /process\s*\.\s*(exit|exitCode|argv)\b/.test(readFileSync(join(root, file), 'utf8')))
    expect(enders).toEqual(['src/commands/program.ts'])
  })
})
