import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
// wait: between two attempts.
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../helpers/run-tool.ts'
import type { ExampleServers } from './example-servers.ts'
import type { Block } from './markdown.ts'
import { shapeDifference } from './shape.ts'

const main = join(import.meta.dirname, '..', '..', 'dist', 'src', 'main.js')
/** A command that runs until it is stopped. */
const lasting =
  /^(?:\w+=(?:'[^']*'|\S+) )*(?:npm ci && )?(?:npm start(?: -- (?!\w)| -- demo| -- serve|$)|(?:npx )?tickwarden(?: demo| serve| --(?!help|version)|$))/
/** Timeout of a command and of the start of a service: it ends a wait for what never happens. */
const timeoutMs = 120_000

/**
 * Replacements for commands of the pages: `npm ci` has run before the tests, `npm start` would build again, and `tickwarden` is
 * the command that the package installs.
 */
const shims = {
  npm: `case "$1" in ci) exit 0;; start) shift; [ "$1" = -- ] && shift; exec "$NODE" "$MAIN" "$@";; *) echo "npm $*: not run here"; exit 1;; esac`,
  npx: '[ "$1" = tickwarden ] || exit 1; shift; exec "$NODE" "$MAIN" "$@"',
  tickwarden: 'exec "$NODE" "$MAIN" "$@"',
} as const

export function writeShims(folder: string): string {
  const path = join(folder, 'bin')
  mkdirSync(path)
  for (const [name, script] of Object.entries(shims)) {
    writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(path, name), 0o755)
  }
  return path
}

interface Run {
  readonly child: ChildProcess
  output(): string
  readonly ended: Promise<number | null>
}

export interface PageRunner {
  /**
   * Runs the commands of a block.
   * @param output the block that follows it
   * @throws Error with the command that failed, or how its output differs
   */
  run(block: Block, output: Block | undefined): Promise<void>
  /** Saves a file of the page in the folder where its commands run. */
  save(name: string, text: string): void
  localise(text: string): string
  close(): Promise<void>
}

/**
 * Runs the commands of one page in a separate folder.
 * @param bin folder of the shims
 * @param port of a running service, for pages that do not start one
 */
export async function createPageRunner(examples: ExampleServers, bin: string, port: number): Promise<PageRunner> {
  const folder = mkdtempSync(join(examples.folder, 'page-'))
  const ports = new Map<string, number>([['8080', port]])
  // A refused request ends a command like one that fails.
  writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nsilent\n')
  let service: Run | undefined

  const localise = (text: string): string =>
    examples.substitutions
      .reduce((result, [shown, used]) => result.replaceAll(shown, used), text)
      .replaceAll(/(?<=(?:127\.0\.0\.1|localhost):)\d+/g, (shown) => String(ports.get(shown) ?? shown))

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: `${bin}:${process.env.PATH}`,
    HOME: folder,
    CURL_HOME: folder,
    TMPDIR: folder,
    NODE: process.execPath,
    MAIN: main,
    PORT: String(ports.get('8080')),
    POLL_INTERVAL: '500ms',
  })

  function start(commands: string): Run {
    // A separate process group, so that the processes started by a command are stopped with it.
    const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
      cwd: folder,
      env: environment(),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output += chunk
      })
    const ended = once(child, 'close').then(([code]) => code as number | null)
    return { child, output: () => output, ended }
  }

  async function stop(run: Run | undefined): Promise<void> {
    if (run?.child.pid === undefined || run.child.exitCode !== null) return
    process.kill(-run.child.pid, 'SIGKILL')
    await run.ended
  }

  const isReady = async (): Promise<boolean> => {
    const base = 'http://127.0.0.1'
    const paths = ['/readyz', '/mc/readyz']
    const replies = await Promise.all(
      paths.map((path) =>
        fetch(`${base}:${ports.get('8080')}${path}`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    )
    return replies.includes(true)
  }

  /** Starts a command that runs until it is stopped; it replaces the one that the page started before. */
  async function runLasting(commands: string, output: Block | undefined): Promise<void> {
    await stop(service)
    if (ports.get('8080') === port) ports.set('8080', await freePort())
    for (const [, shown = ''] of commands.matchAll(/(?:127\.0\.0\.1|localhost):(\d+)/g))
      if (!ports.has(shown) && Number(shown) < 10_000) ports.set(shown, await freePort())
    const run = start(localise(commands))
    service = run
    let code: number | null | undefined
    void run.ended.then((value) => {
      code = value
    })
    const isDemo = / demo\b/.test(commands)
    const difference = () => (output && shapeDifference(output.language, localise(output.text), run.output())) ?? undefined
    for (const end = Date.now() + timeoutMs; Date.now() < end; await delay(50)) {
      if (code !== undefined && output === undefined) throw new Error(`ended with code ${code}:\n${run.output()}`)
      if (output && difference() === undefined) return
      if (code !== undefined) break
      if (output === undefined && run.output().includes(isDemo ? 'Ctrl+C' : 'listens on') && (isDemo || (await isReady()))) return
    }
    throw new Error(difference() ?? `did not start:\n${run.output()}`)
  }

  async function runOnce(commands: string): Promise<{ readonly code: number | null; readonly text: string }> {
    const run = start(localise(commands))
    const timer = setTimeout(() => void stop(run), timeoutMs)
    const code = await run.ended
    clearTimeout(timer)
    return { code, text: run.output() }
  }

  return {
    localise,
    save: (name, text) => writeFileSync(join(folder, name), localise(text)),
    async run({ text }, output) {
      const commands = text.replaceAll(/\\\n\s*/g, '')
      if (commands.split('\n').some((line) => lasting.test(line))) return runLasting(commands, output)
      // The output of a page may need a few polls.
      let problem: string | undefined
      const before = new Set(readdirSync(folder))
      for (const end = Date.now() + timeoutMs; Date.now() < end; await delay(300)) {
        // An attempt starts without the files of the last one, which `record` would refuse to overwrite.
        if (service === undefined)
          for (const name of readdirSync(folder)) if (!before.has(name)) rmSync(join(folder, name), { recursive: true })
        const { code, text: actual } = await runOnce(commands)
        if (output === undefined) {
          if (code !== 0) throw new Error(`ended with code ${code}:\n${actual}`)
          return
        }
        problem = shapeDifference(output.language, localise(output.text), actual)
        if (problem === undefined) return
      }
      throw new Error(problem)
    },
    close: () => stop(service),
  }
}
