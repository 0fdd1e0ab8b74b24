// What `npm run check` checks, as two rows of commands that run at the same time. A row ends with its first command that fails.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ensure } from './ensure.mjs'
import { importArguments } from './imports.mjs'

const modules = 'test/tools/node_modules'
/** Most of the time one package is unpacked, or a file written: the other core builds meanwhile. */
const installed = Promise.all(['test/tools', 'grafana'].map(ensure)).then(() => true)
const rows = [
  [
    'npm run --silent build',
    // One thread: more would check much of the code again, in the time of the other row.
    'tsc --project src/web/client --singleThreaded',
    installed,
    'tsc --project test --singleThreaded',
  ],
  [
    installed,
    `node ${modules}/@biomejs/biome/bin/biome check`,
    'node test/tools/lint-workflows.mjs',
    'node test/tools/lint-lock-files.mjs',
    `node ${modules}/dependency-cruiser/bin/dependency-cruise.mjs ${importArguments.join(' ')}`,
    'tsx test/helpers/regular-expressions.ts',
  ],
]

/** Runs a command, and prints its output once it has ended. @returns whether it succeeded */
async function run(command) {
  // With a shell, for the scripts of packages on Windows.
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  const [code] = await once(child, 'close')
  process.stdout.write(Buffer.concat(output))
  if (code !== 0) console.error(`failed: ${command}`)
  return code === 0
}

async function runAll(row) {
  for (const step of row) if (!(await (typeof step === 'string' ? run(step) : step))) return false
  return true
}

const results = await Promise.all(rows.map(runAll))
process.exitCode = results.every(Boolean) ? 0 : 1
