// Checks the lock files with lockfile-lint: packages come from the npm registry only, over HTTPS, under their own names, and the lock
// file has a checksum of each. Run by `npm run check`; needs no network. Arguments: other lock files.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ParseLockfile, ValidateHost, ValidateHttps, ValidateIntegrity, ValidatePackageNames } from 'lockfile-lint-api'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const own = ['.', 'grafana', 'test/tools', 'test/peers', 'test/nodes', 'test/mutation'].map((folder) =>
  join(root, folder, 'package-lock.json'),
)

function* problemsOf(path) {
  const { object: packages } = new ParseLockfile({ lockfilePath: path, lockfileType: 'npm' }).parseSync()
  // Aliases are only in package.json files, which are reviewed.
  const { packages: entries } = JSON.parse(readFileSync(path, 'utf8'))
  const aliases = Object.entries(entries).flatMap(([at, { name }]) =>
    at !== '' && name !== undefined ? [`${at.split('node_modules/').at(-1)}:${name}`] : [],
  )
  for (const { errors } of [
    new ValidateHost({ packages }).validate(['npm']),
    new ValidateHttps({ packages }).validate(),
    new ValidateIntegrity({ packages }).validate(),
    new ValidatePackageNames({ packages }).validate(aliases),
  ])
    for (const { message } of errors) yield message.replaceAll(/\s+/g, ' ').trim()
  // lockfile-lint accepts an entry without a checksum.
  for (const [at, { integrity, link }] of Object.entries(entries))
    if (at !== '' && link !== true && integrity === undefined)
      yield `${at.split('node_modules/').at(-1)} has no checksum ("integrity")`
}

const given = process.argv.slice(2)
for (const path of given.length > 0 ? given : own)
  for (const problem of problemsOf(path)) {
    console.error(`${relative(root, path)}: ${problem}`)
    process.exitCode = 1
  }
