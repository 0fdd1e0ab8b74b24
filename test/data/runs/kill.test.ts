import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { loadConfig } from '../../../src/config.ts'
import { comebackFormat } from '../../../src/data/comeback-format.ts'
import { loadSnapshot } from '../../../src/data/read-snapshot.ts'
import { startRun } from '../../../src/data/runs/execute.ts'
import { kcomebacks } from '../../../src/data/scripts/kcomebacks/index.ts'
import { noProgress, scriptSettings } from '../../../src/data/scripts/script.ts'
import { silentLog } from '../../../src/log.ts'
import { archiveOf, type FakeReddit, startFakeReddit, tableOf } from '../../helpers/fake-reddit.ts'

/** KILLS=10 for a quick look: each takes the start of a process. */
const kills = Number(process.env.KILLS ?? 100)
const child = fileURLToPath(new URL('../../helpers/update-child.mjs', import.meta.url))

let reddit: FakeReddit
let folder: string
let env: Record<string, string>
const children = new Set<ChildProcess>()

beforeAll(async () => {
  reddit = await startFakeReddit()
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  env = {
    DATA_DIR: folder,
    REDDIT_AUTH_URL: reddit.url,
    REDDIT_API_URL: reddit.url,
    REDDIT_CLIENT_ID: reddit.id,
    REDDIT_CLIENT_SECRET: reddit.secret,
  }
  reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/march', '2024/february', '2024/january']))
})
afterAll(() => {
  for (const left of children) left.kill('SIGKILL')
  reddit.close()
  rmSync(folder, { recursive: true })
})

/** A process that has loaded everything and waits for the word. */
async function prepare(): Promise<ChildProcess> {
  const process_ = spawn(process.execPath, [child], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  children.add(process_)
  process_.once('exit', () => children.delete(process_))
  await once(process_.stdout!, 'data')
  return process_
}

/** All months say the same, so that a snapshot of two versions could be told. */
function publish(version: number): void {
  for (const month of ['january', 'february', 'march']) {
    const rows = Array.from({ length: 40 }, (_, index) => `|1st|18:00|Artist ${index}|version ${version}|Single||`)
    reddit.pages.set(`upcoming-releases/2024/${month}`, tableOf(...rows))
  }
}

/** The version in place. */
async function inPlace(): Promise<number> {
  const { entries, rejected } = await loadSnapshot(readFileSync(join(folder, 'kcomebacks.json'), 'utf8'), comebackFormat)
  expect(rejected).toEqual([])
  expect(entries).toHaveLength(120)
  const titles = new Set(entries.map(({ title }) => title))
  expect(titles.size).toBe(1)
  return Number([...titles][0]!.replace('version ', ''))
}

async function update(): Promise<string> {
  const values = scriptSettings(loadConfig({ env }))
  const run = await startRun({
    ...{ script: kcomebacks, values, dataDir: folder, clock: systemClock, log: silentLog, progress: noProgress },
    ...{ trigger: 'command', signal: new AbortController().signal, full: true, dryRun: false, force: false },
  })
  return typeof run === 'string' ? run : (await run.ended).outcome
}

it(`leaves a whole snapshot wherever it is killed, ${kills} times, and the next run succeeds`, async () => {
  publish(0)
  expect(await update()).toBe('done')
  const begun = performance.now()
  publish(1)
  expect(await update()).toBe('done')
  // Kills fall anywhere in a run and a little beyond its end.
  const length = (performance.now() - begun) * 1.3
  let [version, old, fresh] = [1, 0, 0]
  let next = prepare()
  for (let kill = 0; kill < kills; kill++) {
    const running = await next
    next = prepare()
    publish(++version)
    const over = once(running, 'exit')
    running.stdin!.write('go\n')
    await sleep(Math.random() * length)
    running.kill('SIGKILL')
    await over
    const found = await inPlace()
    expect([version - 1, version]).toContain(found)
    if (found === version) fresh++
    else old++
    expect(await update()).toBe('done')
    expect(await inPlace()).toBe(version)
  }
  // Else the moments were not spread over the run.
  expect(old).toBeGreaterThan(0)
  expect(fresh + old).toBe(kills)
}, 300_000)
