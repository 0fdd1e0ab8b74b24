import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { enableRcon } from '../../src/commands/init/enable-rcon.ts'
import { loadConfig } from '../../src/config/config.ts'
import { comebacksDatabase } from '../../src/data/databases/kcomebacks.ts'
import { addRun } from '../../src/data/runs/history.ts'
import { writeStates } from '../../src/data/scripts/kcomebacks/stored.ts'
import { storeGrant } from '../../src/data/scripts/liked-songs/authorisation.ts'
import { journalPath, openJournal } from '../../src/data/scripts/liked-songs/journal.ts'
import { writeReplies } from '../../src/data/scripts/projects/reply-cache.ts'
import { scriptSettings } from '../../src/data/scripts/script.ts'
import { writeSnapshot } from '../../src/data/scripts/write-snapshot.ts'
import { urlOrigin } from '../../src/data/store/url-origin.ts'
import { openHistory } from '../../src/history/history.ts'
import { HistoryStore } from '../../src/history/store/store.ts'
import { addRecords } from '../../src/maintenance/records.ts'
import { FileOutbox } from '../../src/notify/outbox.ts'
import { systemClock } from '../../src/util/clock.ts'
import { writeAtomic } from '../../src/util/files.ts'
import { fakeFleet } from '../helpers/fake-fleet.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { isSupported } from '../helpers/require-tool.ts'
import { until } from '../helpers/until.ts'

/** Writes for the `count`-th time, each time something else. Fails with an error of the system, or logs it. */
type Writer = (folder: string, count: number) => Promise<unknown>

/** The place that snapshots are copied from. */
const upstream = createServer((request, response) => response.end(words(Number(request.url?.slice(1)))))

const wall = Date.UTC(2026, 0, 1)
const words = (count: number): string => `${count} `.repeat(2_000)

/** What is logged instead of thrown. */
const logged: string[] = []
const add = (...given: unknown[]) => void logged.push(JSON.stringify(given))
const log = { debug() {}, info: add, warn: add, error: add }

const writers: Readonly<Record<string, Writer>> = {
  async outbox(folder, count) {
    const outbox = await FileOutbox.open({ folder, channel: 'ops', log, clock: systemClock })
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
    addRun(folder, { script: words(count), trigger: 'command', started: new Date(count).toISOString() }, log),
  'state of the wiki pages': (folder, count) =>
    writeStates(folder, new Map([['2024-02', { read: count, digest: words(count) }]])),
  'replies of GitHub': (folder, count) =>
    writeReplies(join(folder, 'replies.json'), '', new Map([['/', { etag: String(count), body: words(count) }]])),
  'authorisation of a script': (folder, count) => storeGrant(folder, words(count), count),
  async 'journal of a script'(folder, count) {
    const journal = await openJournal(journalPath(folder), 'account')
    await journal.addLoved({ id: String(count), title: words(count), artist: 'A' })
  },
  async 'copy of a snapshot'(folder, count) {
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/${count}`
    const origin = urlOrigin({ database: 'kcomebacks', url, interval: 1_000, cacheDir: folder, log })
    await origin.keep?.((await origin.read())!)
    await origin.close?.()
  },
  'file of a command': (folder, count) => writeAtomic(join(folder, 'tickwarden.yaml'), words(count)),
  snapshot: (folder, count) =>
    writeSnapshot({
      ...{ database: comebacksDatabase, path: join(folder, 'kcomebacks.json'), wall, force: true, dryRun: false, log },
      values: scriptSettings(loadConfig({ env: {} })),
      entries: [{ date: '2024-02-1', time: '--:--', artist: 'A', title: words(count), types: [], links: [] }],
    }),
  'settings of a server': async (folder) => {
    const path = join(folder, 'server.properties')
    if (!readdirSync(folder).includes('server.properties')) writeFileSync(path, `motd=${words(0)}\n`)
    else await enableRcon(folder, new Set())
  },
  async history(folder, count) {
    const recorded = await recordHistory(folder, count)
    await recorded.clock.advance(120_000)
    await recorded.close()
  },
}

/** Records a server with so many players from that hour on. The thread has the database, of which libsql keeps the file open until it ends. */
async function recordHistory(folder: string, hour: number, isReadOnly = false) {
  const clock = manualClock(hour * 3_600_000)
  const fleet = fakeFleet({ Server: { status: { playersOnline: hour } } }, clock)
  const history = await openHistory({ fleet, clock, folder, log, inThread: true, isReadOnly })
  if (!isReadOnly) await fleet.pollAll()
  return {
    ...{ clock, fleet },
    /** The numbers of players in the order in which they were recorded, each once. */
    async players() {
      const { series } = await history.range('Server', { names: ['players'], range: 24 * 3_600_000, points: 1_440 })
      return [...new Set(series.players?.max.filter((value) => value !== null))]
    },
    async close() {
      await history.close()
      fleet.close()
    },
  }
}

/** The numbers of players in the file of the history. */
async function readHistory(folder: string) {
  const recorded = await recordHistory(folder, 20, true)
  const players = await recorded.players()
  await recorded.close()
  return players
}

/** Where a writer above is, and the commands that write files by `writeAtomic` alone. */
const writing = `
  commands/authorise commands/init/enable-rcon commands/init/run-init commands/record commands/status/run-status
  data/runs/history data/scripts/kcomebacks/stored data/scripts/liked-songs/authorisation
  data/scripts/liked-songs/journal data/scripts/projects/reply-cache
  data/scripts/state-file data/scripts/write-snapshot data/store/url-origin maintenance/records notify/outbox
  util/files`

it('every module that writes files is tested here', () => {
  const source = join(import.meta.dirname, '../../src')
  const found = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => {
    if (!name.endsWith('.ts') || name.startsWith(join('web', 'client'))) return false
    const text = readFileSync(join(source, name), 'utf8')
    return /\b(?:appendFile|copyFile|createWriteStream|writeAtomic|writeFile\w*|writeStateFile)\(|\bopen\([^)]*, '[aw]/.test(text)
  })
  expect(found.map((name) => name.replaceAll('\\', '/').replace(/\.ts$/, '')).toSorted()).toEqual(writing.trim().split(/\s+/))
})

const mount = (...args: string[]) => spawnSync('mount', args).status === 0
const probe = mkdtempSync(join(tmpdir(), 'tickwarden-mount-'))
const canMount = mount('-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', probe) && spawnSync('umount', [probe]).status === 0
rmSync(probe, { recursive: true })

interface Fault {
  readonly begin: (root: string) => void
  readonly end: (root: string) => void
  /** What is reported: the code of the system, or the words of the history. */
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
    codes: ['ENOSPC', 'disk is full'],
  },
  'read-only': {
    begin: (root) => execFileSync('mount', ['-o', 'remount,ro', root]),
    end: (root) => execFileSync('mount', ['-o', 'remount,rw', root]),
    codes: ['EROFS', 'it is read-only'],
  },
}

const isWhole = (line: string): boolean => line.endsWith('}')

/** The files of a folder with their contents: of a journal the whole lines, of a database what it answers. */
async function contentsOf(folder: string) {
  const contents: Record<string, string | readonly (string | number)[]> = {}
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const { name } = entry
    if (!entry.isFile() || name.startsWith('history.db-')) continue
    const text = readFileSync(join(folder, name), 'latin1')
    if (name === 'history.db') contents[name] = await readHistory(folder)
    else contents[name] = name.endsWith('.jsonl') ? text.split('\n').filter(isWhole) : text
  }
  return contents
}

describe.skipIf(!isSupported(canMount, 'only root can mount a file system'))('a disk that is', () => {
  beforeAll(() => new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve)))
  afterAll(() => void upstream.close())
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tickwarden-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', root])
  })
  afterEach(() => {
    execFileSync('umount', ['-l', root])
    rmSync(root, { recursive: true })
  })

  it('almost full keeps a file whole of which only a part would fit', async () => {
    const file = join(root, 'runs.json')
    await writeAtomic(file, words(1))
    faults.full?.begin(root)
    const filler = join(root, 'filler')
    truncateSync(filler, statSync(filler).size - 8_192)
    await expect(writeAtomic(file, words(1_000_000))).rejects.toThrow('ENOSPC')
    expect(readFileSync(file, 'utf8')).toBe(words(1))
    expect(readdirSync(root).toSorted()).toEqual(['filler', 'runs.json'])
  })

  it('almost full has the history of an earlier version, which grows by indexes once there is room', () => {
    const path = join(root, 'history.db')
    new HistoryStore({ path }).close()
    const indexes = ['sessions_of_server', 'sessions_in_order', 'sessions_of_name']
    const db = new Database(path)
    for (const index of indexes) db.exec(`DROP INDEX ${index}`)
    db.exec(`INSERT INTO servers (name) VALUES ('Server');
      WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 4000)
      INSERT INTO sessions (server, player, joined_at, online, changed_at) SELECT 1, 'player' || number, ${wall}, 0, ${wall} FROM numbers`)
    db.close()
    faults.full?.begin(root)
    const filler = join(root, 'filler')
    truncateSync(filler, statSync(filler).size - 65_536)
    const open = () => {
      const store = new HistoryStore({ path })
      const count = store.sessions.last(1).length
      store.close()
      const file = new Database(path, { readonly: true })
      const found = file.prepare("SELECT name FROM sqlite_schema WHERE type = 'index'").raw().all().flat()
      file.close()
      return { count, missing: indexes.filter((index) => !found.includes(index)) }
    }
    expect(open()).toEqual({ count: 200, missing: indexes })
    rmSync(filler)
    expect(open()).toEqual({ count: 200, missing: [] })
  })

  it('full keeps the history that is being recorded, and stores what was recorded meanwhile once there is room', async () => {
    const recorded = await recordHistory(root, 1)
    await recorded.clock.advance(120_000)
    expect(await recorded.players()).toEqual([1])
    faults.full?.begin(root)
    logged.length = 0
    recorded.fleet.scripts.Server = { status: { playersOnline: 2 } }
    await recorded.fleet.pollAll()
    await recorded.clock.advance(120_000)
    await until(() => logged.some((line) => line.includes('the disk is full')))
    expect(await recorded.players()).toEqual([1])
    faults.full?.end(root)
    recorded.fleet.scripts.Server = { status: { playersOnline: 3 } }
    await recorded.fleet.pollAll()
    await recorded.clock.advance(60_000)
    await until(() => logged.some((line) => line.includes('the history can be written again')))
    expect(await recorded.players()).toEqual([1, 2, 3])
    await recorded.close()
    expect(await readHistory(root)).toEqual([1, 2, 3])
  })

  describe.each(Object.entries(faults))('%s', (_fault, { begin, end, codes }) => {
    it.each(Object.entries(writers))('neither damages nor loses what is stored: %s', async (_name, write) => {
      const folder = join(root, 'data')
      mkdirSync(folder)
      await write(folder, 1)
      const before = await contentsOf(folder)
      begin(root)
      logged.length = 0
      for (const count of [2, 3]) {
        const error = await Promise.resolve(write(folder, count)).then(
          () => undefined,
          (reason: NodeJS.ErrnoException) => reason,
        )
        const reported = error === undefined ? logged.splice(0).join('\n') : `${error.code} ${error.message}`
        expect(reported).toMatch(new RegExp(codes.join('|')))
        expect(await contentsOf(folder)).toEqual(before)
      }
      end(root)
      await write(folder, 4)
      const after = await contentsOf(folder)
      for (const [name, content] of Object.entries(before)) {
        const kept = after[name]?.slice(0, Array.isArray(content) ? content.length : 0)
        expect([name, kept]).toEqual([name, Array.isArray(content) ? content : ''])
      }
      if (Object.keys(before).length > 0) expect(after).not.toEqual(before)
      expect(Object.keys(after).filter((name) => /\.(new|lock|\d{4,})$/.test(name))).toEqual([])
    })
  })
})
