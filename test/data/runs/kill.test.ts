import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// wait: a process is killed at any time.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { comebackFormat } from '../../../src/data/databases/kcomebacks.ts'
import { startRun } from '../../../src/data/runs/execute.ts'
import { kcomebacks } from '../../../src/data/scripts/kcomebacks/index.ts'
import { noProgress, scriptSettings } from '../../../src/data/scripts/script.ts'
import { loadSnapshot } from '../../../src/data/store/read-snapshot.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { ageLocks } from '../../helpers/age-locks.ts'
import { bundleChild } from '../../helpers/bundle-child.ts'
import { archiveOf, startFakeReddit, tableOf } from '../../helpers/fake-reddit.ts'

const kills = process.env.LONG_TESTS === '1' ? 50 : 10
/** Folders in which processes are killed at the same time. */
const lanes = 5

const children = new Set<ChildProcess>()
let child: string
beforeAll(async () => {
  child = await bundleChild(join(import.meta.dirname, '../../helpers/update-child.mjs'))
})
afterAll(() => {
  for (const running of children) running.kill('SIGKILL')
})

/** A data directory, with the upstream that its updates read. */
async function openLane() {
  const reddit = await startFakeReddit()
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  const env = {
    DATA_DIR: folder,
    REDDIT_AUTH_URL: reddit.url,
    REDDIT_API_URL: reddit.url,
    REDDIT_CLIENT_ID: reddit.id,
    REDDIT_CLIENT_SECRET: reddit.secret,
  }
  reddit.pages.set('upcoming-releases/archive', archiveOf(['2024/march', '2024/february', '2024/january']))

  return {
    /** A process that has loaded everything and waits for a line of input. */
    async prepare(): Promise<ChildProcess> {
      const process_ = spawn(process.execPath, [child], { env, stdio: ['pipe', 'pipe', 'inherit'] })
      children.add(process_)
      process_.once('exit', () => children.delete(process_))
      await once(process_.stdout!, 'data')
      return process_
    },
    /** All months have the same titles, so that a snapshot of two versions is detected. */
    publish(version: number): void {
      for (const month of ['january', 'february', 'march']) {
        const rows = Array.from({ length: 40 }, (_, index) => `|1st|18:00|Artist ${index}|version ${version}|Single||`)
        reddit.pages.set(`upcoming-releases/2024/${month}`, tableOf(...rows))
      }
    },
    /** The version of the snapshot. */
    async version(): Promise<number> {
      const { entries, rejected } = await loadSnapshot(readFileSync(join(folder, 'kcomebacks.json'), 'utf8'), comebackFormat)
      expect(rejected).toEqual([])
      expect(entries).toHaveLength(120)
      const titles = new Set(entries.map(({ title }) => title))
      expect(titles.size).toBe(1)
      return Number([...titles][0]!.replace('version ', ''))
    },
    /** Runs the update in this process. */
    async update(): Promise<string> {
      ageLocks(folder, 61_000)
      const values = scriptSettings(loadConfig({ env }))
      const run = await startRun({
        ...{ script: kcomebacks, values, dataDir: folder, clock: systemClock, log: silentLog, progress: noProgress },
        ...{ trigger: 'command', signal: new AbortController().signal, full: true, dryRun: false, force: false },
      })
      if (typeof run === 'string') return run
      const { outcome, errors } = await run.ended
      return [outcome, ...errors].join(': ')
    },
    close(): void {
      reddit.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Milliseconds of a whole run and a while after its end. */
async function measureRun(): Promise<number> {
  const lane = await openLane()
  lane.publish(1)
  const whole = await lane.prepare()
  const started = performance.now()
  const ended = once(whole, 'exit')
  whole.stdin!.write('go\n')
  await ended
  const span = (performance.now() - started) * 1.3
  expect(await lane.version()).toBe(1)
  lane.close()
  return span
}

/**
 * Kills processes anywhere in a run and shortly after its end.
 * @returns the number of kills that left the previous version, and the new one
 */
async function killInLane(index: number, span: number): Promise<{ readonly before: number; readonly after: number }> {
  const lane = await openLane()
  const count = kills / lanes
  lane.publish(1)
  expect(await lane.update()).toBe('done')
  const left = { before: 0, after: 0 }
  for (let version = 2; version < count + 2; version++) {
    const running = await lane.prepare()
    lane.publish(version)
    const exited = once(running, 'exit')
    running.stdin!.write('go\n')
    // Spread over all folders: the first at once, the last when the run has ended.
    const part = ((version - 2) * lanes + index) / (kills - 1)
    if (part === 1) await exited
    else await sleep(part * span)
    running.kill('SIGKILL')
    await exited
    const found = await lane.version()
    expect([version - 1, version]).toContain(found)
    left[found === version ? 'after' : 'before']++
    expect(await lane.update()).toBe('done')
    expect(await lane.version()).toBe(version)
  }
  lane.close()
  return left
}

it(`leaves a whole snapshot wherever it is killed, ${kills} times, and the next run succeeds`, async () => {
  const span = await measureRun()
  const all = await Promise.all(Array.from({ length: lanes }, (_, index) => killInLane(index, span)))
  const sum = (key: 'before' | 'after') => all.reduce((total, left) => total + left[key], 0)
  expect(sum('before') + sum('after')).toBe(kills)
  // Otherwise the kills were not spread over the run.
  expect(sum('before')).toBeGreaterThan(0)
  expect(sum('after')).toBeGreaterThan(0)
}, 300_000)
