// Changes the code of a part in one place after another, and lists the changes that no test of the part notices:
// `npm run mutation -- PART [TEST...]`. `survivors.md` has the figures, and the changes that no test can notice.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { install } from '../tools/ensure.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = join(root, 'test/mutation/node_modules/@stryker-mutator')

/** The tests of parts that are tested through other ones. Those of `game/watcher` are without real demo servers, which take seconds. */
const testsOf = JSON.parse(readFileSync(new URL('tests-of.json', import.meta.url), 'utf8'))

const [part, ...given] = process.argv.slice(2)
const isFile = existsSync(join(root, `src/${part}.ts`))
if (!isFile && !existsSync(join(root, `src/${part}`))) {
  console.error(
    'Usage: npm run mutation -- PART [TEST...]: folders or files, without .ts, of src and of test. For example: game/watcher',
  )
  process.exit(2)
}
// Not in the cache of the user, as the other tools: the runner imports vitest of this checkout.
const [lockFile, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
  join(root, 'test/mutation', name),
)
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lockFile).mtimeMs)
  await install('test/mutation', join(root, 'test/mutation'))

const tests = given.length > 0 ? given : (testsOf[part] ?? [part])
const include = tests.map((test) =>
  existsSync(join(root, `test/${test}.test.ts`)) ? `test/${test}.test.ts` : `test/${test}/**/*.test.ts`,
)
const folder = mkdtempSync(join(tmpdir(), 'tickwarden-mutation-'))
const write = (name, text) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
// They take long, and the others show the same.
const vitest = {
  include,
  exclude: ['**/*.model.test.ts', '**/kill.test.ts'],
  testTimeout: 20_000,
  expect: { poll: { timeout: 10_000 } },
  isolate: false,
}
const configFile = write('vitest.config.mjs', `export default ${JSON.stringify({ test: vitest })}\n`)
const config = {
  mutate: [isFile ? `src/${part}.ts` : `src/${part}/**/*.ts`],
  testRunner: 'vitest',
  plugins: [join(packages, 'vitest-runner/dist/src/index.js')],
  vitest: { configFile, related: false },
  // A change of what runs once, when a module is loaded, would need all tests in a new process.
  ignoreStatic: true,
  concurrency: 1,
  timeoutMS: 5_000,
  reporters: ['clear-text', 'json', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: join(folder, 'mutation.json') },
  allowConsoleColors: false,
  tempDirName: join(folder, 'sandbox'),
  ignorePatterns: ['/charts', '/dist', '/docs', '/grafana', 'test/nodes', 'test/peers', 'test/tools'],
  // Stryker would rewrite it with an older TypeScript.
  tsconfigFile: 'none',
}
const { status } = spawnSync(
  process.execPath,
  [join(packages, 'core/bin/stryker.js'), 'run', write('stryker.config.json', JSON.stringify(config))],
  { cwd: root, stdio: 'inherit' },
)
console.log(`Report: ${config.jsonReporter.fileName}`)
process.exitCode = status ?? 1
