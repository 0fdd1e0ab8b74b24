import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseServerFile, readServerValues } from '../../src/config/parse-servers.ts'
import { createDiscovery } from '../../src/discovery/discovery.ts'
import { createFleet } from '../../src/game/fleet.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { temporaryFolder } from '../helpers/discovering-service.ts'
import { cpuMs } from '../helpers/growth.ts'
import { until } from '../helpers/until.ts'

const count = 10_000
const perChange = 100
const rounds = 5

/** Of the servers `s0` to `s9999` those of `replaced` have another address; `gone` are replaced by as many others. */
function targets(round: number): string {
  const groups = Array.from({ length: count }, (_, index) => {
    const turn = index < rounds * perChange && index >= (rounds - round) * perChange
    const isGone = turn && index % 2 === 0
    const port = turn && !isGone ? 2 : 1
    return { targets: [`127.0.${index >> 8}.${index & 255}:${port}`], labels: { name: isGone ? `new${index}` : `s${index}` } }
  })
  return JSON.stringify(groups)
}

it('applies 100 changes at a time among 10,000 servers of one file, and keeps the watchers of the others', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'targets.json')
  const write = (round: number) => {
    writeFileSync(`${file}.new`, targets(round))
    renameSync(`${file}.new`, file)
  }
  write(0)
  const discovery = createDiscovery({
    parseServers: parseServerFile,
    readServer: readServerValues,
    settings: { discoveryFileSd: [file] },
    readConfig: () => [],
    clock: systemClock,
    log: silentLog,
  })
  onTestFinished(() => discovery.close())
  await discovery.firstRead
  let [created, closed, longest] = [0, 0, 0]
  const fleet = createFleet({
    servers: discovery.servers(),
    poll: { interval: 3_600_000, timeout: 3_000, staleAfter: 15_000 },
    clock: systemClock,
    log: silentLog,
    createSources: () => {
      created++
      return { list: () => [], close: () => closed++ }
    },
  })
  onTestFinished(() => fleet.close())
  const unchanged = fleet.watchers.slice(rounds * perChange)
  expect([created, unchanged.length]).toEqual([count, count - rounds * perChange])
  discovery.onChange(() => {
    const started = cpuMs()
    fleet.update(discovery.servers())
    longest = Math.max(longest, cpuMs() - started)
  })
  for (let round = 1; round <= rounds; round++) {
    write(round)
    await until(() => created === count + round * perChange)
    expect([closed, fleet.watchers.length]).toEqual([round * perChange, count])
  }
  expect(fleet.watchers.slice(rounds * perChange).every((watcher, index) => watcher === unchanged[index])).toBe(true)
  // A few milliseconds.
  expect(longest).toBeLessThan(500)
})
