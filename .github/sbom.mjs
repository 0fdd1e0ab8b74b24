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

/** npm 10 lists a package once for each folder that has it, although its identifier must be unique. */
const unique = (entries, id) => [...new Map(entries.map((one) => [one[id], one])).values()]
const identifiers = { components: 'bom-ref', dependencies: 'ref', packages: 'SPDXID' }

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
  const bill = JSON.parse(
    execFileSync('npm', args, { cwd: copy, encoding: 'utf8', maxBuffer: 64e6, stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  for (const [list, id] of Object.entries(identifiers)) if (list in bill) bill[list] = unique(bill[list], id)
  console.log(JSON.stringify(bill, null, 2))
} finally {
  rmSync(folder, { recursive: true })
}
