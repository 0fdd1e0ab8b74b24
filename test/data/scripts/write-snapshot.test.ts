import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/config.ts'
import { comebacksDatabase } from '../../../src/data/databases/kcomebacks.ts'
import { projectsDatabase } from '../../../src/data/databases/projects.ts'
import { scriptSettings } from '../../../src/data/scripts/script.ts'
import { readPublished, snapshotPath, writeSnapshot } from '../../../src/data/scripts/write-snapshot.ts'
import { silentLog } from '../../../src/util/log.ts'

const wall = Date.UTC(2024, 1, 29, 23, 59, 59, 999)
const entry = (number: number) => ({
  date: '2024-02-1',
  time: '--:--',
  artist: `Artist ${number}`,
  title: `Title ${number}`,
  types: ['album'],
  links: [],
})
const some = (count: number, from = 0) => Array.from({ length: count }, (_, index) => entry(from + index))

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tickwarden-'))
  path = join(folder, 'kcomebacks.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const lines: string[] = []
const log = { ...silentLog, error: (...line: unknown[]) => lines.push(JSON.stringify(line)) }
type Options = Partial<Parameters<typeof writeSnapshot>[0]>
const settingsOf = (env: Record<string, string>) => scriptSettings(loadConfig({ env }))
const values = settingsOf({})
const write = (entries: readonly object[], force = false, dryRun = false, options: Options = {}) =>
  writeSnapshot({ database: comebacksDatabase, path, entries, values, wall, force, dryRun, log, ...options })
const countIn = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')).length - 1

describe('writing a snapshot', () => {
  it('produces the expected bytes', async () => {
    expect(await write(some(2))).toEqual({ written: true })
    expect(readFileSync(path, 'utf8')).toBe(
      `[
{"last_update":"2024-02-29 23:59:59 UTC"},
{"date":"2024-02-1","time":"--:--","artist":"Artist 0","title":"Title 0","types":["album"],"links":[]},
{"date":"2024-02-1","time":"--:--","artist":"Artist 1","title":"Title 1","types":["album"],"links":[]}
]
`,
    )
    expect(readdirSync(folder)).toEqual(['kcomebacks.json'])
  })

  it('keeps the previous three', async () => {
    for (const count of [10, 11, 12, 13, 14]) await write(some(count))
    expect(readdirSync(folder).sort()).toEqual(['kcomebacks.json', 'kcomebacks.json.1', 'kcomebacks.json.2', 'kcomebacks.json.3'])
    expect(['', '.1', '.2', '.3'].map((end) => countIn(`kcomebacks.json${end}`))).toEqual([14, 13, 12, 11])
  })

  it('keeps no copy of an unchanged snapshot', async () => {
    for (const count of [10, 11, 11, 11]) await write(some(count))
    expect(readdirSync(folder).sort()).toEqual(['kcomebacks.json', 'kcomebacks.json.1'])
    expect(countIn('kcomebacks.json.1')).toBe(10)
  })

  it('leaves other files beside it', async () => {
    writeFileSync(`${path}.0`, 'mine')
    for (const count of [10, 11, 12]) await write(some(count))
    expect(readFileSync(`${path}.0`, 'utf8')).toBe('mine')
  })

  it('refuses one without entries although there is none yet', async () => {
    expect(await write([])).toEqual({ written: false, reason: 'the new snapshot is rejected: it has no entries' })
    expect(readdirSync(folder)).toEqual(['kcomebacks.json.rejected'])
  })

  it('keeps no copy if only the date changed', async () => {
    await write(some(10))
    await write(some(10), false, false, { wall: wall + 86_400_000 })
    expect(readdirSync(folder)).toEqual(['kcomebacks.json'])
    expect(JSON.parse(readFileSync(path, 'utf8'))[0]).toEqual({ last_update: '2024-03-01 23:59:59 UTC' })
    await write([{ ...entry(0), title: 'Another' }, ...some(9, 1)], false, false, { wall: wall + 86_400_000 })
    expect(readdirSync(folder)).toEqual(['kcomebacks.json', 'kcomebacks.json.1'])
  })

  it('keeps the current file itself as a previous one', async () => {
    await write(some(10))
    const { ino } = statSync(path)
    await write(some(11))
    expect(statSync(`${path}.1`).ino).toBe(ino)
    expect(statSync(path).ino).not.toBe(ino)
  })

  it('is confirmed before it changes anything, and only then', async () => {
    await write(some(10))
    const confirmed: string[][] = []
    const confirm = async () => void confirmed.push(readdirSync(folder))
    await write(some(11), false, false, { confirm })
    expect(confirmed).toEqual([['kcomebacks.json']])
    await write(some(12), false, true, { confirm })
    await write(some(1), false, false, { confirm })
    expect(confirmed).toHaveLength(1)
    const before = readdirSync(folder)
    const refuse = () => Promise.reject(new Error('another replica'))
    await expect(write(some(12), false, false, { confirm: refuse })).rejects.toThrow('another replica')
    expect(readdirSync(folder)).toEqual(before)
    expect(countIn('kcomebacks.json')).toBe(11)
  })

  it('masks the secrets of the script', async () => {
    await write([{ ...entry(1), title: 'hunter22' }], false, false, { values: settingsOf({ GITHUB_TOKEN: 'hunter22' }) })
    expect(readFileSync(path, 'utf8')).toContain('"title":"[hidden]"')
  })

  it('keeps the owner of the file', async () => {
    await write(some(10))
    // Only root may.
    if (process.getuid?.() === 0) chownSync(path, 1234, 4321)
    const { uid, gid } = statSync(path)
    await write(some(11))
    expect(statSync(path)).toMatchObject({ uid, gid })
  })

  it('fails if the previous files cannot be rotated, and leaves the current one', async () => {
    await write(some(10))
    await write(some(11))
    mkdirSync(join(`${path}.2`, 'used'), { recursive: true })
    writeFileSync(`${path}.3`, '')
    const before = readdirSync(folder)
    await expect(write(some(12))).rejects.toThrow(/ENOTDIR|EISDIR/)
    expect(readdirSync(folder)).toEqual(before)
    expect(countIn('kcomebacks.json')).toBe(11)
  })

  it.each([
    ['has less than 80 % of the entries', some(7), 'it has 7 entries, the current one has 10'],
    ['is empty', [], 'it has no entries'],
  ])('refuses one that %s, unless forced', async (_what, entries, reason) => {
    await write(some(10))
    const before = readFileSync(path)
    lines.length = 0
    expect(await write(entries)).toEqual({ written: false, reason: `the new snapshot is rejected: ${reason}` })
    expect(readFileSync(path)).toEqual(before)
    expect(countIn('kcomebacks.json.rejected')).toBe(entries.length)
    const rest = `kcomebacks: the new snapshot is rejected: ${reason}`
    const counts = { database: 'kcomebacks', entries: entries.length, before: 10 }
    const kept = 'it is kept as kcomebacks.json.rejected; '
    expect(lines.splice(0)).toEqual([JSON.stringify([counts, `${rest}; ${kept}--force publishes it`])])
    rmSync(`${path}.rejected`)
    await write(entries, false, true)
    expect(lines).toEqual([JSON.stringify([counts, `${rest}; --force publishes it`])])
    expect(readdirSync(folder)).toEqual(['kcomebacks.json'])

    expect(await write(entries, true)).toEqual({ written: true })
    expect(countIn('kcomebacks.json')).toBe(entries.length)
    expect(countIn('kcomebacks.json.1')).toBe(10)
  })

  it('compares with the last valid copy if the current file is broken', async () => {
    await write(some(9))
    await write(some(10))
    writeFileSync(path, '[{"last_upd')
    expect(await write(some(7))).toEqual({
      written: false,
      reason: 'the new snapshot is rejected: it has 7 entries, the current one has 9',
    })
    expect(await write(some(8))).toEqual({ written: true })
  })

  it('reports the result of a dry run, and writes nothing', async () => {
    await write(some(10))
    const before = readdirSync(folder)
    expect(await write(some(7), false, true)).toEqual(await write(some(7)))
    expect(await write(some(7), true, true)).toEqual({ written: true })
    expect(countIn('kcomebacks.json')).toBe(10)
    rmSync(`${path}.rejected`)
    expect(readdirSync(folder)).toEqual(before)
  })

  it('accepts 80 %', async () => {
    await write(some(10))
    expect(await write(some(8))).toEqual({ written: true })
  })

  it('counts the entries that the service would serve, not those in the file', async () => {
    await write(some(10))
    const written = await write([...some(7), ...Array.from({ length: 5 }, () => ({ artist: null }))])
    expect(written).toEqual({ written: false, reason: 'the new snapshot is rejected: it has 7 entries, the current one has 10' })
  })

  it('keeps a current file that is not a snapshot as a previous one', async () => {
    writeFileSync(path, 'not JSON')
    expect(await write(some(1))).toEqual({ written: true })
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('not JSON')
  })

  it('neither reads nor replaces a current file that is too large, even by force', async () => {
    writeFileSync(path, 'not JSON')
    truncateSync(path, 2 ** 30)
    const reason = 'kcomebacks.json has 1073741824 bytes; the maximum is 33554432'
    await expect(readPublished(path, comebacksDatabase)).rejects.toThrow(reason)
    await expect(write(some(1))).rejects.toThrow(reason)
    await expect(write(some(1), true)).rejects.toThrow(reason)
    expect(statSync(path).size).toBe(2 ** 30)
    expect(readdirSync(folder)).toEqual(['kcomebacks.json'])
  })

  it('publishes none that the service could not read, even by force', async () => {
    await write(some(2))
    const before = readFileSync(path, 'utf8')
    const large = { ...entry(1), title: 'x'.repeat(32 * 1024 * 1024) }
    await expect(write([large], true)).rejects.toThrow(/^the new snapshot has \d+ bytes; the maximum is 33554432$/)
    expect(readdirSync(folder)).toEqual(['kcomebacks.json'])
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  describe('that was published last', () => {
    const warnings: unknown[] = []
    const read = () =>
      readPublished(path, comebacksDatabase, { ...silentLog, warn: (...line: unknown[]) => void warnings.push(...line) })
    const broken = 'kcomebacks: kcomebacks.json is not a valid snapshot;'
    beforeEach(() => void warnings.splice(0))

    it('is the current file', async () => {
      await write(some(2))
      expect((await read())?.entries).toHaveLength(2)
      expect(warnings).toEqual([])
    })

    it.each([1, 3])('is the previous file %i if those after it are broken', async (number) => {
      await write(some(2))
      renameSync(path, `${path}.${number}`)
      for (const end of ['', '.1', '.2', '.3'].slice(0, number)) writeFileSync(`${path}${end}`, 'not JSON')
      expect((await read())?.entries).toHaveLength(2)
      expect(warnings).toEqual([`${broken} kcomebacks.json.${number} is used instead`])
    })

    it('is unknown if all are broken, or the current file is gone', async () => {
      writeFileSync(path, 'not JSON')
      expect(await read()).toBeUndefined()
      expect(warnings).toEqual([`${broken} none of the previous ones is valid either, so the run starts from nothing`])
      await write(some(2))
      renameSync(path, `${path}.1`)
      expect(await read()).toBeUndefined()
      expect(warnings).toHaveLength(1)
    })

    it('is not taken for broken if reading it fails', async () => {
      await write(some(2))
      const format = {
        ...comebacksDatabase.format,
        read() {
          throw new Error('a mistake of ours')
        },
      }
      await expect(readPublished(path, { ...comebacksDatabase, format })).rejects.toThrow('a mistake of ours')
    })
  })

  it('keeps a symbolic link a link, and the mode of the file', async () => {
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    const target = join(elsewhere, 'data.json')
    symlinkSync(join('elsewhere', 'data.json'), path)
    // The file does not exist yet.
    expect(await write(some(10))).toEqual({ written: true })
    chmodSync(target, 0o640)
    expect(await write(some(11))).toEqual({ written: true })
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(statSync(target).mode & 0o7777).toBe(0o640)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveLength(12)
    expect(readdirSync(folder).sort()).toEqual(['elsewhere', 'kcomebacks.json'])
    expect(readdirSync(elsewhere).sort()).toEqual(['data.json', 'data.json.1'])
    // The previous file is used if the current one is broken.
    writeFileSync(target, 'not JSON')
    expect(await write(some(5))).toMatchObject({ written: false, reason: expect.stringContaining('the current one has 10') })
    expect(readdirSync(elsewhere)).toContain('data.json.rejected')
  })

  it('fails if the folder does not exist, and leaves nothing', async () => {
    await expect(
      writeSnapshot({
        database: projectsDatabase,
        path: join(folder, 'none', 'projects.json'),
        entries: some(1),
        values,
        wall,
        force: false,
        dryRun: false,
        log,
      }),
    ).rejects.toThrow('ENOENT')
  })
})

describe('the path of a snapshot', () => {
  it.each([
    ['that is not set is in the data folder', undefined, '/data/kcomebacks.json'],
    ['that is a URL is in the data folder', 'https://example.com/x.json', '/data/kcomebacks.json'],
    ['that is a path is that', '/else/x.json', '/else/x.json'],
    ['that is a relative path is in the working folder', 'x.json', resolve('x.json')],
  ])('%s', (_what, kcomebacksSnapshot, expected) => {
    const { kcomebacksSnapshot: _, ...others } = values
    const settings = kcomebacksSnapshot === undefined ? others : { ...others, kcomebacksSnapshot }
    expect(snapshotPath(comebacksDatabase, settings as typeof values, '/data')).toBe(expected)
    expect(snapshotPath({ name: 'other' }, settings as typeof values, '/data')).toBe('/data/other.json')
  })
})
