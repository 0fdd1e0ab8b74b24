import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../clock.ts'
import { fileVersion, watchFolder } from '../files.ts'
import { DiscoveryError, type ParsedList, type Provider, type ServerList } from './provider.ts'

/** Poll interval, for network file systems and bind mounts of single files, which do not report changes. */
const pollIntervalMs = 1_000
/** Minimum pause between two polls as a multiple of the duration of a poll: there may be thousands of files. */
const restFactor = 20
/** Milliseconds without events before files are read: a write in place causes many events. */
const debounceMs = 50
const maxBytes = 32 * 1024 * 1024

export interface FileListsOptions {
  /** Paths; the last segment may contain `*`, which matches any characters. */
  readonly patterns: readonly string[]
  /**
   * @param path of the file
   * @param name of the file, for messages
   * @throws DiscoveryError if it is not valid
   */
  readonly parse: (text: string, path: string, name: string) => ParsedList | Promise<ParsedList>
  readonly clock: Clock
  readonly changed: () => void
}

interface TrackedFile {
  readonly pattern: string
  /** The version that was read last; undefined if that failed. */
  readonly version: string | undefined
  readonly list: ServerList
}

const empty: ParsedList = { servers: [], refused: [] }

function reasonOf(error: unknown): string {
  if (error instanceof DiscoveryError) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? 'it does not exist' : code === undefined ? message : `it cannot be read (${code})`
}

/** The existing files of a pattern, sorted by name; a path without `*` is returned as it is. */
async function expand(pattern: string): Promise<readonly string[]> {
  const [folder, name] = [dirname(pattern), basename(pattern)]
  if (!name.includes('*')) return [pattern]
  const parts = name.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  const matching = new RegExp(`^${parts.join('.*')}$`, 's')
  const names = await readdir(folder)
  return names
    .filter((name) => matching.test(name) && !name.startsWith('.'))
    .sort()
    .map((name) => join(folder, name))
}

/**
 * Reads lists of servers from files, and again when they change: by a write in place, a rename or a changed symbolic link. If a
 * file is no longer valid, its previous servers stay; those of a file that no longer matches its pattern are removed.
 */
export function createFileLists({ patterns, parse, clock, changed }: FileListsOptions): Provider {
  let files: ReadonlyMap<string, TrackedFile> = new Map()
  /** Patterns whose folder cannot be listed. */
  const failures = new Map<string, ServerList>()
  let isClosed = false
  /** Duration of the last poll, milliseconds. */
  let durationMs = 0

  async function readOne(path: string, pattern: string, again: boolean): Promise<TrackedFile> {
    const before = files.get(path)
    const name = basename(path)
    try {
      // Before the file is read, so that a change in the meantime is noticed at the next poll.
      const stats = await stat(path, { bigint: true })
      const { size } = stats
      const version = fileVersion(stats)
      if (before?.version === version && !again) return before
      // A pipe or device may never end and would block the reads of all lists.
      if (!stats.isFile()) throw new DiscoveryError('it is not a file')
      if (size > maxBytes) throw new DiscoveryError(`it has ${size} bytes; the maximum is ${maxBytes}`)
      const text = await readFile(path, 'utf8')
      try {
        return { pattern, version, list: { name, place: path, ...(await parse(text, path, name)), readAt: clock.wall() } }
      } catch (error) {
        return { pattern, version, list: failed(before, name, path, error) }
      }
    } catch (error) {
      const list = failed(before, name, path, error)
      const isSame = before !== undefined && before.version === undefined && before.list.error === list.error
      return isSame ? before : { pattern, version: undefined, list }
    }
  }

  const failed = (before: TrackedFile | undefined, name: string, place: string, error: unknown): ServerList => ({
    ...(before?.list ?? { ...empty, name, place }),
    error: reasonOf(error),
  })

  async function pathsOf(pattern: string): Promise<readonly string[]> {
    try {
      const paths = await expand(pattern)
      failures.delete(pattern)
      return paths
    } catch (error) {
      const before = failures.get(pattern)
      const reason = `its folder: ${reasonOf(error)}`
      if (before?.error !== reason) failures.set(pattern, { ...empty, name: basename(pattern), place: pattern, error: reason })
      return [...files].flatMap(([path, file]) => (file.pattern === pattern ? [path] : []))
    }
  }

  async function readAll(again: boolean): Promise<void> {
    if (isClosed) return
    const failing = [...failures.values()]
    const next = new Map<string, TrackedFile>()
    for (const pattern of patterns) {
      for (const path of await pathsOf(pattern)) {
        if (!next.has(path)) next.set(path, await readOne(path, pattern, again))
      }
    }
    const before = [...files.values()]
    const [after, nowFailing] = [[...next.values()], [...failures.values()]]
    const isSame = <T>(a: readonly T[], b: readonly T[]) => a.length === b.length && a.every((item, index) => item === b[index])
    files = next
    if (!isClosed && !(isSame(before, after) && isSame(failing, nowFailing))) changed()
  }

  let last: Promise<void> = Promise.resolve()
  let waiting: { again: boolean; readonly done: Promise<void> } | undefined
  /** One read at a time, and at most one that waits: files may change faster than thousands of them can be read. */
  function read(again = false): Promise<void> {
    if (waiting === undefined) {
      const next = { again, done: last.then(start) }
      waiting = next
      last = next.done
    }
    waiting.again ||= again
    return waiting.done
  }
  function start(): Promise<void> {
    const { again = false } = waiting ?? {}
    waiting = undefined
    return readAll(again)
  }

  let cancelPoll = () => {}
  const poll = () => {
    if (isClosed) return
    cancelPoll = clock.after(Math.max(pollIntervalMs, restFactor * durationMs), async () => {
      const started = clock.now()
      await read()
      durationMs = clock.now() - started
      poll()
    })
  }
  let cancelDebounce = () => {}
  const readSoon = () => {
    cancelDebounce()
    cancelDebounce = clock.after(debounceMs, () => void read())
  }
  // Any event of the folder: the event of a symbolic link's target has the name of the target.
  const watchers = [...new Set(patterns.map((pattern) => dirname(pattern)))].map((folder) => watchFolder(folder, readSoon))
  const firstRead = read()
  firstRead.then(poll)

  return {
    firstRead,
    lists: () => [...failures.values(), ...[...files.values()].map(({ list }) => list)],
    reload: () => read(true),
    close() {
      isClosed = true
      cancelPoll()
      cancelDebounce()
      for (const watcher of watchers) watcher?.close()
    },
  }
}
