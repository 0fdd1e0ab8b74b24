import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../helpers/run-tool.ts'
import { until } from '../helpers/until.ts'
import { createPageRunner, writeShims } from './command-runner.ts'
import { type ExampleServers, startExampleServers } from './example-servers.ts'
import { type Block, pagePaths, placeOf, readPage } from './markdown.ts'

/** Blocks without commands, which other tests or no tests check. */
const otherLanguages = [
  'json',
  'text',
  'yaml',
  'nginx',
  'caddyfile',
  'properties',
  'js',
  'ts',
  'html',
  'promql',
  'mermaid',
  'sql',
]
/** Why blocks of commands cannot run here, and how many there are, so that a change is visible in a review. */
const notRun: Readonly<Record<string, number>> = {
  'needs Docker': 4,
  'needs root and systemd': 1,
  'needs a Redis server': 2,
  'needs a real server': 1,
  'needs sqlite3': 2,
  'needs a running service with HISTORY_DIR': 1,
  'needs an OpenTelemetry collector': 1,
  'needs the certificate of a real server': 1,
  'requests upstream sites': 2,
}

const pages = pagePaths
  .filter((path) => path === 'README.md' || path === 'CONTRIBUTING.md' || path.startsWith('docs/'))
  .map(readPage)
const blocks = pages.flatMap(({ blocks }) => blocks)
const commands = blocks.filter(({ language }) => language === 'sh')

const isOutput = ({ language, follows }: Block): boolean =>
  (language === 'text' || language === 'json') && follows?.language === 'sh'

it('every block of a page has a language, commands `sh`', () => {
  const wrong = blocks.filter(({ language }) => language !== 'sh' && !otherLanguages.includes(language))
  expect(wrong.map(placeOf)).toEqual([])
})

it('every block that is not run has a reason, and most are run', () => {
  const counted: Record<string, number> = {}
  for (const { notRun: reason } of commands) if (reason !== undefined) counted[reason] = (counted[reason] ?? 0) + 1
  expect(counted).toEqual(notRun)
  const total = Object.values(counted).reduce((sum, count) => sum + count, 0)
  expect(total).toBeLessThan(commands.length / 2)
})

it('README.md has the commands to start and to test, and .ci/run calls the latter', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
  const readme = read('README.md')
  for (const command of ['npm ci && npm start', 'npm cit', '.ci/run']) expect(readme).toContain(command)
  expect(read('.ci/run')).toMatch(/\bnpm cit$/m)
})

describe.concurrent('the commands of', () => {
  let examples: ExampleServers
  let bin: string
  let port: number
  const close: (() => unknown)[] = []

  beforeAll(async () => {
    examples = await startExampleServers()
    bin = writeShims(examples.folder)
    port = await freePort()
    const service = spawn(process.execPath, [join(import.meta.dirname, '../../dist/src/main.js')], {
      cwd: examples.folder,
      env: {
        PORT: String(port),
        POLL_INTERVAL: '500ms',
        LOG_LEVEL: 'silent',
        PATH: process.env.PATH,
      },
      stdio: 'ignore',
    })
    close.push(
      () => service.kill(),
      () => examples.close(),
    )
    await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok === true)
  })
  afterAll(async () => {
    for (const end of close) await end()
  })

  it.for(pages.filter(({ blocks }) => blocks.some(({ language, notRun }) => language === 'sh' && notRun === undefined)))(
    '$path run, and print what the page shows',
    async ({ blocks }) => {
      const runner = await createPageRunner(examples, bin, port)
      try {
        for (const [index, block] of blocks.entries()) {
          const next = blocks[index + 1]
          if (block.language === 'yaml' && /^servers:/m.test(block.text)) runner.save('tickwarden.yaml', block.text)
          if (block.language !== 'sh' || block.notRun !== undefined) continue
          await runner.run(block, next && isOutput(next) ? next : undefined).catch((error: Error) => {
            throw new Error(`${placeOf(block)}\n${block.text}\n${error.message}`)
          })
        }
      } finally {
        await runner.close()
      }
    },
  )
})
