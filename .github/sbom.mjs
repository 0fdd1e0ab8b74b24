// Prints the bill of materials of the service: `npm run --silent sbom cyclonedx`, or spdx. Of all packages that an installation may
// contain, for any platform. `npm sbom --omit dev` leaves out those that a development dependency may use too, such as ajv and yaml, so
// it is given a package without any.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const { devDependencies: _, ...settings } = read('package.json')
const lock = read('package-lock.json')
const { devDependencies: __, ...own } = lock.packages['']
const others = Object.entries(lock.packages).filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)

const folder = mkdtempSync(join(tmpdir(), 'sbom-'))
try {
  // npm takes the name of the package from that of its folder.
  const copy = join(folder, settings.name)
  mkdirSync(copy)
  writeFileSync(join(copy, 'package.json'), JSON.stringify(settings))
  writeFileSync(
    join(copy, 'package-lock.json'),
    JSON.stringify({ ...lock, packages: Object.fromEntries([['', own], ...others]) }),
  )
  const args = ['sbom', '--package-lock-only', '--sbom-format', process.argv[2] ?? 'cyclonedx']
  execFileSync('npm', args, { cwd: copy, stdio: 'inherit' })
} finally {
  rmSync(folder, { recursive: true })
}
