import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packProject } from '../helpers/packed-project.ts'

const root = join(import.meta.dirname, '..', '..')

it('the package has the files needed at run time and the documentation, but no sources', async () => {
  const { paths } = await packProject()
  expect(paths).toEqual(
    expect.arrayContaining([
      ...[
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'docs/settings.md',
        'dist/src/main.js',
        'src/start.mjs',
        'src/check-node.mjs',
        'dist/src/library/index.d.ts',
        'dist/exporter/register.js',
      ],
      ...['src/data/sample/projects.json', 'src/data/sample/kcomebacks.json'],
      ...['src/web/fonts/DejaVuSans.ttf', 'src/web/fonts/DejaVuSans-Bold.ttf', 'src/web/fonts/LICENSE-DejaVu.txt'],
      ...['grafana/dashboards/fleet.json', 'grafana/dashboards/server.json', 'grafana/alerts/tickwarden.rules.yaml'],
    ]),
  )
  expect(
    paths.filter((path) => /(?<!\.d)\.ts$|\.(map|tsbuildinfo)$|^(test|bench)\/|node_modules|-lock\.json$/.test(path)),
  ).toEqual([])
})

it('the package has no secrets that the documentation lets people write beside the examples', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const names = ['compose.itzg.yaml', 'tickwarden.service']
  mkdirSync(join(folder, 'examples'))
  for (const path of ['package.json', ...names.map((name) => `examples/${name}`)]) cpSync(join(root, path), join(folder, path))
  for (const name of ['rcon-password', '.env']) writeFileSync(join(folder, 'examples', name), 'secret')
  const options = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const
  const [packed] = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], options))
  const paths = (packed.files as readonly { readonly path: string }[]).map(({ path }) => path)
  expect(paths.filter((path) => path.startsWith('examples/'))).toEqual(names.map((name) => `examples/${name}`))
})

it('the newest release of the changelog is the version of the package', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const { version } = JSON.parse(read('package.json')) as { readonly version: string }
  expect(/^## \[(\d.*?)\]/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version)
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({ version, packages: { '': { version } } })
})

it.skipIf(process.platform !== 'linux')('the command starts Node.js with one thread for garbage collection', async () => {
  const child = spawn(join(root, 'src', 'start.mjs'), ['demo'], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    // Its first output: the shell of the first line has been replaced by Node.js.
    await once(child.stdout, 'data')
    const command = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0')
    expect(command.slice(1, 3)).toEqual(['--v8-pool-size=1', join(root, 'src', 'start.mjs')])
  } finally {
    child.kill()
    await once(child, 'exit')
  }
})
