import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { comebacksDatabase } from '../../../src/data/databases/kcomebacks.ts'
import { createRuns, type Runs } from '../../../src/data/runs/index.ts'
import { kcomebacks } from '../../../src/data/scripts/kcomebacks/index.ts'
import { type Script, scriptSettings } from '../../../src/data/scripts/script.ts'
import { writeSnapshot } from '../../../src/data/scripts/write-snapshot.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { silentLog } from '../../../src/util/log.ts'
import { isSupported } from '../../helpers/require-tool.ts'
import { until } from '../../helpers/until.ts'

const entries = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ date: '2024-02-1', time: '--:--', artist: `Artist ${index}`, title: 'x'.repeat(100), types: [], links: [] },
  }))

let folder: string
let size: number
let now: number
/** Publishes `size` entries. */
const script: Script = {
  ...kcomebacks,
  missingSettings: () => [],
  async run({ values, log, clock }) {
    const path = join(folder, 'kcomebacks.json')
    const order = { values, database: comebacksDatabase, path, wall: clock.wall(), force: false, dryRun: false, log }
    await writeSnapshot({ ...order, entries: entries(size) })
    return { outcome: 'done', errors: [] }
  },
}
const open = (): Runs =>
  createRuns({
    ...{ scripts: [script], values: scriptSettings(loadConfig({ env: {} })), dataDir: folder, pauseMs: 0, log: silentLog },
    clock: { ...systemClock, wall: () => now },
  })
const state = async (runs: Runs) => (await runs.status())[0]
async function run(runs: Runs) {
  now += 60_000
  const reply = await runs.start('kcomebacks', 'request')
  await until(async () => (await state(runs))?.state !== 'running')
  return reply.state
}

const mount = (...args: string[]) => spawnSync(args[0] ?? '', args.slice(1)).status === 0

// A real full disk, which only root can make.
const probe = mkdtempSync(join(tmpdir(), 'tickwarden-mount-'))
const canMount = mount('mount', '-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', probe) && mount('umount', probe)
rmSync(probe, { recursive: true })

describe.skipIf(!isSupported(canMount, 'only root can mount a file system'))('a full disk', () => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tickwarden-full-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder])
    now = Date.UTC(2026, 0, 1)
    size = 100
  })
  afterEach(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  })
  /** Leaves this many free bytes. */
  function fill(left: number): void {
    const file = join(folder, 'filler')
    try {
      writeFileSync(file, Buffer.alloc(1024 * 1024))
    } catch {
      // The disk is full now.
    }
    writeFileSync(file, readFileSync(file).subarray(left))
  }

  it('keeps the snapshot, leaves no unfinished file, and records the failure', async () => {
    const runs = open()
    expect(await run(runs)).toBe('started')
    expect((await state(runs))?.state).toBe('succeeded')
    const before = readFileSync(join(folder, 'kcomebacks.json'))
    fill(12 * 1024)
    size = 110
    expect(await run(runs)).toBe('started')
    const last = await state(runs)
    expect(last).toMatchObject({ state: 'failed', last: { outcome: 'failed', errors: [expect.stringContaining('ENOSPC')] } })
    expect(readFileSync(join(folder, 'kcomebacks.json'))).toEqual(before)
    expect(readdirSync(folder)).not.toContain('kcomebacks.json.new')
    await runs.close()
  })

  it('without a free byte fails the run and says so, and runs.json keeps what it had', async () => {
    const runs = open()
    for (let count = 0; count < 5; count++) await run(runs)
    const before = readFileSync(join(folder, 'runs.json'), 'utf8')
    fill(0)
    await run(runs)
    expect(readFileSync(join(folder, 'runs.json'), 'utf8')).toBe(before)
    expect(readdirSync(folder).filter((name) => name.endsWith('.lock'))).toEqual([])
    expect(await state(runs)).toMatchObject({ state: 'failed', last: { errors: [expect.stringContaining('ENOSPC')] } })
    expect(runs.metrics()[0]?.runs).toMatchObject({ done: 5, failed: 1 })
    await runs.close()
    const restarted = open()
    rmSync(join(folder, 'filler'))
    expect(await run(restarted)).toBe('started')
    expect((await state(restarted))?.state).toBe('succeeded')
    expect(existsSync(join(folder, 'runs.json'))).toBe(true)
  })
})
