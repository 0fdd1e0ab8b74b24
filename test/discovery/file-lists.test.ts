import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseServerFile, readServerValues } from '../../src/config/parse-servers.ts'
import { createDiscovery } from '../../src/discovery/discovery.ts'
import { createFileLists, type ParseFile } from '../../src/discovery/file-lists.ts'
import { temporaryFolder } from '../helpers/discovering-service.ts'
import { collectLog } from '../helpers/log-lines.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { until } from '../helpers/until.ts'

interface Format {
  readonly setting: string
  /** The last segment of the setting, if it is not the name of the file. */
  readonly pattern?: string
  readonly file: string
  write(names: readonly string[]): string
}

const json = (value: unknown) => JSON.stringify(value, undefined, 1)
const address = (name: string) => `${name}.test:25565`

const formats: readonly Format[] = [
  {
    setting: 'discoveryVelocity',
    file: 'velocity.toml',
    write: (names) =>
      `bind = "0.0.0.0:25565"\n[servers]\n${names.map((name) => `${name} = "${address(name)}"\n`).join('')}try = ["${names[0]}"]\n[advanced]\ncompression-threshold = 256\n`,
  },
  {
    setting: 'discoveryBungeecord',
    file: 'config.yml',
    write: (names) => `servers:\n${names.map((name) => `  ${name}:\n    address: ${address(name)}\n`).join('')}timeout: 30000\n`,
  },
  {
    setting: 'discoveryMcRouter',
    file: 'routes.json',
    write: (names) => json({ mappings: Object.fromEntries(names.map((name) => [name, address(name)])) }),
  },
  ...['targets.json', '*.json'].map((pattern) => ({
    setting: 'discoveryFileSd',
    pattern,
    file: 'targets.json',
    write: (names: readonly string[]) => json(names.map((name) => ({ targets: [address(name)], labels: { name } }))),
  })),
  {
    setting: 'discoveryFileSd',
    file: 'targets.yml',
    write: (names) => names.map((name) => `- targets: [${address(name)}]\n  labels: { name: ${name} }\n`).join(''),
  },
]

/** The servers of a file in a folder, whose time advances only by `pass`. */
async function start(format: Format, folder = temporaryFolder(), first = ['a', 'b', 'c']) {
  const [log, clock] = [collectLog(), manualClock()]
  const file = join(folder, format.file)
  const write = (names: readonly string[]) => writeFileSync(file, format.write(names))
  if (first.length > 0) write(first)
  const path = join(folder, format.pattern ?? format.file)
  const discovery = createDiscovery({
    parseServers: parseServerFile,
    readServer: readServerValues,
    settings: { [format.setting]: format.setting === 'discoveryFileSd' ? [path] : path },
    readConfig: () => [],
    clock,
    log,
  })
  onTestFinished(() => discovery.close())
  await discovery.firstRead
  const seen: string[] = []
  const names = () =>
    discovery
      .servers()
      .map(({ name }) => name)
      .join()
  discovery.onChange(() => seen.push(names()))
  /** Advances the time in steps; after each, files are read. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) {
      await clock.advance(50)
      // wait: nothing shows that a file was read that has not changed, or is being written.
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  /** Lets time pass until the servers have these names. */
  async function becomes(expected: string): Promise<void> {
    await until(() => names() === expected || pass(50).then(() => false))
  }
  return { folder, file, log, seen, names, write, pass, becomes }
}

const wholeOf = (format: Format): string => format.write(['a', 'b', 'd'])
/** Without the last server; still valid in line-based formats. */
const halfOf = (format: Format): string => wholeOf(format).slice(0, wholeOf(format).search(/^.*\bd\b/m))

/** Runs a test with all formats at once, because it consists of waiting. */
const withEachFormat = (test: (format: Format) => Promise<void>) => async () => {
  const run = async (format: Format) => {
    try {
      await test(format)
    } catch (error) {
      throw new Error(`${format.setting} ${format.pattern ?? format.file}: ${(error as Error).message}`, { cause: error })
    }
  }
  await Promise.all(formats.map(run))
}

describe('a list of servers in a file', () => {
  it(
    'is not read while it is truncated and written in parts',
    withEachFormat(async (format) => {
      const { file, log, seen, pass, becomes } = await start(format)
      for (const text of ['', halfOf(format)]) {
        writeFileSync(file, text)
        await pass(200)
      }
      writeFileSync(file, wholeOf(format))
      await becomes('a,b,d')
      await pass(1_000)
      expect(seen).toEqual(['a,b,d'])
      expect(log.lines).toEqual([])
    }),
  )

  it(
    'is read with a byte order mark, as programs of Windows write it',
    withEachFormat(async (format) => {
      const { file, log, seen, becomes } = await start(format)
      writeFileSync(file, `\ufeff${format.write(['a', 'b', 'd']).replaceAll('\n', '\r\n')}`)
      await becomes('a,b,d')
      expect(seen).toEqual(['a,b,d'])
      expect(log.lines).toEqual([])
    }),
  )

  it(
    'keeps its servers and reports why once while it is empty, and is followed once it is complete',
    withEachFormat(async (format) => {
      const { file, log, names, pass, becomes } = await start(format)
      writeFileSync(file, '')
      await pass(3_000)
      expect(names()).toBe('a,b,c')
      expect(log.lines).toEqual([expect.stringMatching(/^warn: .*; its previous servers are still watched$/)])
      writeFileSync(file, wholeOf(format))
      await becomes('a,b,d')
      expect(log.lines.slice(1)).toEqual([expect.stringMatching(/^info: .* read again without errors$/)])
    }),
  )

  it(
    'keeps its servers while an editor replaces it',
    withEachFormat(async (format) => {
      const { file, log, seen, pass, becomes } = await start(format)
      // As vim does.
      renameSync(file, `${file}~`)
      await pass(200)
      writeFileSync(file, halfOf(format))
      await pass(100)
      writeFileSync(file, wholeOf(format))
      rmSync(`${file}~`)
      await becomes('a,b,d')
      expect(seen).toEqual(['a,b,d'])
      expect(log.lines).toEqual([])
    }),
  )

  it(
    'is followed through a replaced folder',
    withEachFormat(async (format) => {
      const parent = temporaryFolder()
      const folder = join(parent, 'conf')
      mkdirSync(folder)
      const { log, seen, write, pass, becomes } = await start(format, folder)
      mkdirSync(join(parent, 'next'))
      writeFileSync(join(parent, 'next', format.file), wholeOf(format))
      renameSync(folder, join(parent, 'old'))
      await pass(200)
      renameSync(join(parent, 'next'), folder)
      await becomes('a,b,d')
      write(['e'])
      await becomes('e')
      expect(seen).toEqual(['a,b,d', 'e'])
      expect(log.lines).toEqual([])
    }),
  )

  it(
    'is followed through the links of a Kubernetes volume',
    withEachFormat(async (format) => {
      const folder = temporaryFolder()
      const publish = (version: string, names: readonly string[]) => {
        mkdirSync(join(folder, version))
        writeFileSync(join(folder, version, format.file), format.write(names))
        symlinkSync(version, join(folder, '..data_tmp'))
        renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
      }
      publish('..1', ['a', 'b', 'c'])
      symlinkSync(join('..data', format.file), join(folder, format.file))
      const { log, seen, becomes } = await start(format, folder, [])
      publish('..2', ['a'])
      rmSync(join(folder, '..1'), { recursive: true })
      await becomes('a')
      publish('..3', ['a', 'f'])
      await becomes('a,f')
      expect(seen).toEqual(['a', 'a,f'])
      expect(log.lines).toEqual([])
    }),
  )
})

it('does not read a list that is still being written, however long that takes, and reports it', async () => {
  const { file, write, seen, log, pass, becomes } = await start(formats[0]!)
  const whole = wholeOf(formats[0]!)
  for (let round = 0; round < 120; round++) {
    writeFileSync(file, whole.slice(0, 40 + (round % 40)))
    await pass(100)
  }
  expect(new Set(seen)).toEqual(new Set(['a,b,c']))
  expect(log.lines).toEqual([expect.stringMatching(/velocity\.toml: it keeps changing; it is read when it stops; its previous/)])
  write(['a', 'b', 'd'])
  await becomes('a,b,d')
  expect(new Set(seen)).toEqual(new Set(['a,b,c', 'a,b,d']))
  expect(log.lines.slice(1)).toEqual([expect.stringMatching(/^info: .* read again without errors$/)])
})

it('reads a new file of a pattern once it is complete', async () => {
  const format = formats.find(({ pattern }) => pattern === '*.json')!
  const { folder, log, seen, pass, becomes } = await start(format)
  const text = format.write(['z'])
  writeFileSync(join(folder, 'z.json'), text.slice(0, 20))
  await pass(200)
  writeFileSync(join(folder, 'z.json'), text)
  await becomes('a,b,c,z')
  rmSync(join(folder, 'z.json'))
  await becomes('a,b,c')
  expect(seen).toEqual(['a,b,c,z', 'a,b,c'])
  expect(log.lines).toEqual([])
})

it('reads a new file of a pattern that vanished while it was changing, and returns later, once it is complete', async () => {
  const format = formats.find(({ pattern }) => pattern === '*.json')!
  const { folder, seen, pass, becomes } = await start(format)
  const file = join(folder, 'z.json')
  for (let round = 0; round < 4; round++) {
    writeFileSync(file, ' '.repeat(round))
    await pass(100)
  }
  rmSync(file)
  await pass(1_000)
  writeFileSync(file, format.write(['y']))
  await pass(100)
  writeFileSync(file, format.write(['y', 'z']))
  await becomes('a,b,c,y,z')
  expect(seen).toEqual(['a,b,c,y,z'])
})

it('keeps nothing of a file that is gone', async () => {
  const folder = temporaryFolder()
  const clock = manualClock()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const parsers: WeakRef<ParseFile>[] = []
  const lists = createFileLists({
    patterns: [join(folder, '*.json')],
    createParser() {
      const parse = () => ({ servers: [], refused: [] })
      parsers.push(new WeakRef(parse))
      return parse
    },
    ...{ clock, changed() {}, measure: (_place, read) => read() },
  })
  onTestFinished(() => lists.close())
  await lists.firstRead
  for (const name of ['a', 'b', 'c']) {
    writeFileSync(join(folder, `${name}.json`), '[]')
    await lists.reload()
    rmSync(join(folder, `${name}.json`))
    await lists.reload()
  }
  expect(parsers).toHaveLength(3)
  await expect
    .poll(() => {
      collect()
      return parsers.filter((parser) => parser.deref() !== undefined).length
    })
    .toBe(0)
})
