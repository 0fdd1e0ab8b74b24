import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// wait: a process is killed at any time.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { openHistory } from '../../src/history/history.ts'
import { silentLog } from '../../src/util/log.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'

const kills = process.env.LONG_TESTS === '1' ? 50 : 10
const child = fileURLToPath(new URL('../helpers/history-child.mjs', import.meta.url))
/** Speed of the child's clock: a minute takes a second. */
const times = 60
const bucket = 10_000

/** Number of folders in which processes are killed at the same time: they mostly wait. */
const lanes = Math.min(kills, 5)

/** @returns the number of expected buckets, all of which were found */
async function killInLane(count: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tickwarden-history-'))
  // The start of a bucket: what is restored is compared bucket by bucket.
  let wall = 1_700_000_000_000
  const expected = new Set<number>()
  try {
    for (let kill = 0; kill < count; kill++) {
      const running = spawn(process.execPath, [child, folder, String(wall), String(times)], { stdio: ['ignore', 'pipe', 'pipe'] })
      const [lines, errors]: [string[], string[]] = [[], []]
      const over = once(running, 'close')
      running.stdout.on('data', (text) => lines.push(...String(text).trim().split('\n')))
      running.stderr.on('data', (text) => errors.push(String(text)))
      // A child that exits immediately has printed the reason.
      await Promise.race([once(running.stdout, 'data'), over])
      expect(errors).toEqual([])
      await sleep(Math.random() * 3_000)
      running.kill('SIGKILL')
      await over
      expect(errors).toEqual([])
      const timesOf = (what: string) => lines.flatMap((line) => (line.startsWith(what) ? [Number(line.slice(what.length))] : []))
      const [polls, stored] = [timesOf('poll '), timesOf('stored ').at(-1) ?? 0]
      for (const at of polls) if ((Math.floor(at / bucket) + 1) * bucket <= stored) expected.add(Math.floor(at / bucket))
      wall = polls.at(-1)! + 1_000

      const clock = manualClock(wall - 1_700_000_000_000)
      const fleet = fakeFleet({ Server: {} }, clock)
      const history = await openHistory({ fleet, clock, folder, log: silentLog })
      const { from, series } = await history.range('Server', { names: ['players'], range: 3_600_000, points: 1000 })
      // The value of one bucket holds into the next, where it is the minimum.
      const values = series.players!.max
      for (const number of expected) {
        const index = number - from / bucket
        if (index >= 0) expect(values[index], `bucket ${number}, kill ${kill}`).toBe(number % 10_000)
      }
      await history.close()
      const db = new Database(join(folder, 'history.db'))
      expect(db.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
      db.close()
      fleet.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return expected.size
}

it(`loses nothing that it has stored and keeps an intact file whenever it is killed, ${kills} times`, async () => {
  const counts = Array.from({ length: lanes }, (_, lane) => Math.floor((kills + lane) / lanes))
  const expected = await Promise.all(counts.map(killInLane))
  // Otherwise it was killed before any data was written.
  expect(expected.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(kills / 4)
}, 600_000)
