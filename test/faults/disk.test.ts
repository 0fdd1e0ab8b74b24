import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { enableRcon } from '../../src/commands/init/enable-rcon.ts'
import { comebacksDatabase } from '../../src/data/databases/kcomebacks.ts'
import { addStart } from '../../src/data/runs/history.ts'
import { storeSyncState } from '../../src/data/scripts/liked-songs/sync-state.ts'
import { writeSnapshot } from '../../src/data/scripts/write-snapshot.ts'
import { openHistory } from '../../src/history/history.ts'
import { addRecords } from '../../src/maintenance/records.ts'
import { FileOutbox } from '../../src/notify/outbox.ts'
import { silentLog } from '../../src/util/log.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { isSupported } from '../helpers/require-tool.ts'

/** Writes for the `count`-th time, each time something else. Fails with an error of the system, or logs it. */
type Writer = (folder: string, count: number) => Promise<unknown>

const wall = Date.UTC(2026, 0, 1)
const words = (count: number): string => `${count} `.repeat(2_000)

const writers: Readonly<Record<string, Writer>> = {
  async outbox(folder, count) {
    const outbox = await FileOutbox.open({ folder, channel: 'ops', log: silentLog, describeDropped: () => undefined as never })
    await outbox.commit('survival', undefined, { record: count } as never, [])
    await outbox.setValue(words(count))
    await outbox.close()
  },
  maintenance: (folder, count) =>
    addRecords(
      folder,
      [{ id: String(count), kind: 'start', servers: ['a'], from: wall, to: wall + 1, reason: words(count) }],
      wall,
    ),
  runs: (folder, count) =>
    addStart(folder, { script: words(count), trigger: 'command', started: new Date(count).toISOString() }, silentLog),
  'state of a script': (folder, count) => storeSyncState(folder, count, count),
  snapshot: (folder, count) =>
    writeSnapshot({
      ...{ database: comebacksDatabase, path: join(folder, 'kcomebacks.json'), wall, force: true, dryRun: false, log: silentLog },
      entries: [{ date: '2024-02-1', time: '--:--', artist: 'A', title: words(count), types: [], links: [] }],
    }),
  'settings of a server': async (folder) => {
    const path = join(folder, 'server.properties')
    if (!readdirSync(folder).includes('server.properties')) writeFileSync(path, `motd=${words(0)}\n`)
    else await enableRcon(folder, new Set())
  },
  async history(folder, count) {
    const clock = manualClock(count * 3_600_000)
    const fleet = fakeFleet({ Server: { status: { playersOnline: count } } }, clock)
    const history = await openHistory({ fleet, clock, folder, log: silentLog })
    await fleet.pollAll()
    await clock.advance(120_000)
    await history.close()
    fleet.close()
  },
}

const mount = (...args: string[]) => spawnSync('mount', args).status === 0
const probe = mkdtempSync(join(tmpdir(), 'tickwarden-mount-'))
const canMount = mount('-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', probe) && spawnSync('umount', [probe]).status === 0
rmSync(probe, { recursive: true })

interface Fault {
  readonly begin: (root: string) => void
  readonly end: (root: string) => void
  readonly codes: readonly string[]
}

const faults: Readonly<Record<string, Fault>> = {
  full: {
    begin(root) {
      try {
        writeFileSync(join(root, 'filler'), Buffer.alloc(4 * 1024 * 1024))
      } catch {
        // The disk is full now.
      }
    },
    end: (root) => rmSync(join(root, 'filler')),
    codes: ['ENOSPC'],
  },
  'read-only': {
    begin: (root) => execFileSync('mount', ['-o', 'remount,ro', root]),
    end: (root) => execFileSync('mount', ['-o', 'remount,rw', root]),
    codes: ['EROFS'],
  },
}

/** The files of a folder with their contents; a database is compared by what it answers, not by its bytes. */
const contentsOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !/^history\.db/.test(entry.name))
      .map(({ name }) => [name, readFileSync(join(folder, name), 'latin1')]),
  )

describe.skipIf(!isSupported(canMount, 'only root can mount a file system'))('a disk that is', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tickwarden-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', root])
  })
  afterEach(() => {
    execFileSync('umount', ['-l', root])
    rmSync(root, { recursive: true })
  })

  describe.each(Object.entries(faults))('%s', (fault, { begin, end, codes }) => {
    // A database keeps its file open, which prevents that the disk becomes read-only.
    const those = Object.entries(writers).filter(([name]) => fault === 'full' || name !== 'history')
    it.each(those)('neither damages nor loses what is stored: %s', async (_name, write) => {
      const folder = join(root, 'data')
      mkdirSync(folder)
      await write(folder, 1)
      const before = contentsOf(folder)
      begin(root)
      for (const count of [2, 3]) {
        const error = await Promise.resolve(write(folder, count)).then(
          () => undefined,
          (reason: NodeJS.ErrnoException) => reason,
        )
        if (error !== undefined) expect(`${error.code} ${error.message}`).toMatch(new RegExp(codes.join('|')))
        expect(contentsOf(folder)).toEqual(before)
      }
      end(root)
      await write(folder, 4)
      const after = contentsOf(folder)
      for (const name of Object.keys(before)) expect(Object.keys(after)).toContain(name)
      if (Object.keys(before).length > 0) expect(after).not.toEqual(before)
      expect(Object.keys(after).filter((name) => /\.(new|lock|\d{4,})$/.test(name))).toEqual([])
    })
  })
})
