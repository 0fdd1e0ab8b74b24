import type { BigIntStats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FileSizeError, fileVersion, readFileUpTo } from '../util/files.ts'
import { haveSameItems } from '../util/same-items.ts'
import { createFileStability, stableMs } from './file-stability.ts'
import { createFolderWatch } from './folder-watch.ts'
import { createLossCheck } from './lost-servers.ts'
import { DiscoveryError, type ParsedList, type Provider, type ProviderContext, type ServerList } from './provider.ts'

/** Poll interval, for network file systems and bind mounts of single files, which do not report changes. */
const pollIntervalMs = 500
/** Minimum pause between two polls as a multiple of the duration of a poll: there may be thousands of files. */
const restFactor = 20
/** Milliseconds without events before files are checked: a write in place causes many events. */
const debounceMs = 50
const maxBytes = 32 * 1024 * 1024

export interface FileListsOptions extends Pick<ProviderContext, 'clock' | 'changed' | 'measure'> {
  /** Paths; the last segment may contain `*`, which matches any characters. */
  readonly patterns: readonly string[]
  /**
   * @param path of the file
   * @param name of the file, for messages
   * @throws DiscoveryError if it is not valid
   */
  readonly parse: (text: string, path: string, name: string) => ParsedList | Promise<ParsedList>
}

interface TrackedFile {
  readonly pattern: string
  /** The version that was read last; undefined if reading failed, so that the next poll tries again. */
  readonly version: string | undefined
  readonly list: ServerList
}

const missing = 'it does not exist'
const empty: ParsedList = { servers: [], refused: [] }

function reasonOf(error: unknown): string {
  if (error instanceof DiscoveryError) return error.message
  if (error instanceof FileSizeError) return error.reason
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? missing : code === undefined ? message : `it cannot be read (${code})`
}

/** Whether a name consists of these parts, with any characters between them. */
function hasParts(name: string, [first = '', ...others]: readonly string[]): boolean {
  if (!name.startsWith(first)) return false
  const last = others.pop() ?? ''
  let end = first.length
  for (const part of others) {
    const start = name.indexOf(part, end)
    if (start < 0) return false
    end = start + part.length
  }
  return end + last.length <= name.length && name.endsWith(last)
}

/** The existing files of a pattern, sorted by name; a path without `*` is returned as it is. */
async function expand(pattern: string): Promise<readonly string[]> {
  const [folder, name] = [dirname(pattern), basename(pattern)]
  if (!name.includes('*')) return [pattern]
  const parts = name.split('*')
  const names = await readdir(folder)
  return names
    .filter((name) => hasParts(name, parts) && !name.startsWith('.'))
    .sort()
    .map((name) => join(folder, name))
}

/** Not the pattern, which may be the path of a file. */
const folderKey = (pattern: string): string => `folder of ${pattern}`

/**
 * Reads lists of servers from files, and again when they change: by a write in place, a rename, a changed symbolic link or a replaced
 * folder. A changed file is read once it is stable. If a file is no longer valid, its previous servers stay; those of a file that no longer
 * matches its pattern are removed.
 */
export function createFileLists({ patterns, parse, clock, changed, measure }: FileListsOptions): Provider {
  let files: ReadonlyMap<string, TrackedFile> = new Map()
  /** Patterns whose folder cannot be listed. */
  const failures = new Map<string, ServerList>()
  const stability = createFileStability(clock)
  const lossChecks = new Map<string, ReturnType<typeof createLossCheck>>()
  let hasRead = false
  let isClosed = false
  /** Duration of the last poll, milliseconds. */
  let durationMs = 0

  /** The version of a file, also of one that cannot be read. */
  async function versionOf(
    path: string,
  ): Promise<{ readonly version: string; readonly stats?: BigIntStats; readonly error?: unknown }> {
    try {
      const stats = await stat(path, { bigint: true })
      return { version: fileVersion(stats), stats }
    } catch (error) {
      return { version: reasonOf(error), error }
    }
  }

  /** @returns the file as it was before, until the new version is stable; undefined if there was none */
  async function readOne(path: string, pattern: string, again: boolean): Promise<TrackedFile | undefined> {
    const before = files.get(path)
    const { version, stats, error } = await versionOf(path)
    if (before?.version === version && !again) {
      stability.forget(path)
      return before
    }
    const state = again || !hasRead ? 'overdue' : stability.check(path, version)
    if (state === 'changing') {
      checkLater()
      return before
    }
    const next =
      stats === undefined ? { pattern, version, list: failed(before, path, error) } : await readFrom(path, pattern, stats)
    if (state === 'stable' && (await versionOf(path)).version !== version) {
      // It has changed while it was read.
      checkLater()
      return before
    }
    const isSame = before !== undefined && before.version === next.version && before.list.error === next.list.error
    return isSame && next.list.error !== undefined ? before : next
  }

  async function readFrom(path: string, pattern: string, stats: BigIntStats): Promise<TrackedFile> {
    const before = files.get(path)
    const [name, version] = [basename(path), fileVersion(stats)]
    let text: string | undefined
    try {
      // A pipe or device may never end and would block the reads of all lists.
      if (!stats.isFile()) throw new DiscoveryError('it is not a file')
      text = String(await readFileUpTo(path, maxBytes))
      const content = text
      const parsed = measure(path, () => parse(content, path, name))
      const check = lossChecks.get(path) ?? createLossCheck()
      lossChecks.set(path, check)
      const list = await parsed
      try {
        return { pattern, version, list: { name, place: path, ...check(before?.list, list), readAt: clock.wall() } }
      } catch (error) {
        // Without the version, so that the next poll reads it again.
        return { pattern, version: undefined, list: failed(before, path, error) }
      }
    } catch (error) {
      return { pattern, version: text === undefined ? undefined : version, list: failed(before, path, error) }
    }
  }

  const failed = (before: TrackedFile | undefined, path: string, error: unknown): ServerList => ({
    ...(before?.list ?? { ...empty, name: basename(path), place: path }),
    error: reasonOf(error),
  })

  const previousOf = (pattern: string): readonly string[] =>
    [...files].flatMap(([path, file]) => (file.pattern === pattern ? [path] : []))

  async function pathsOf(pattern: string, again: boolean): Promise<readonly string[]> {
    const isChanging = (path: string, version: string) => {
      const result = hasRead && !again && stability.check(path, version) === 'changing'
      if (result) checkLater()
      return result
    }
    try {
      const paths = await expand(pattern)
      failures.delete(pattern)
      stability.forget(folderKey(pattern))
      // Some editors remove a file for a moment when they save it.
      const found = new Set(paths)
      const removed = previousOf(pattern).filter((path) => !found.has(path) && isChanging(path, missing))
      return [...paths, ...removed].sort()
    } catch (error) {
      const before = failures.get(pattern)
      const reason = `its folder: ${reasonOf(error)}`
      if (before === undefined && isChanging(folderKey(pattern), reason)) return previousOf(pattern)
      if (before?.error !== reason) failures.set(pattern, { ...empty, name: basename(pattern), place: pattern, error: reason })
      return previousOf(pattern)
    }
  }

  async function readAll(again: boolean): Promise<void> {
    if (isClosed) return
    await folders.refresh()
    const failing = [...failures.values()]
    const next = new Map<string, TrackedFile>()
    const checked = new Set(patterns.map(folderKey))
    for (const pattern of patterns) {
      for (const path of await pathsOf(pattern, again)) {
        checked.add(path)
        const file = next.has(path) ? undefined : await readOne(path, pattern, again)
        if (file !== undefined) next.set(path, file)
      }
    }
    hasRead = true
    stability.keepOnly(checked)
    const before = [...files.values()]
    const [after, nowFailing] = [[...next.values()], [...failures.values()]]
    files = next
    if (!isClosed && !(haveSameItems(before, after) && haveSameItems(failing, nowFailing))) changed()
  }

  let last: Promise<void> = Promise.resolve()
  let waiting: { again: boolean; readonly done: Promise<void> } | undefined
  /** One read at a time, and at most one that waits: files may change faster than thousands of them can be read. */
  function read(again = false): Promise<void> {
    if (waiting === undefined) {
      // Files are still read after an error of changed().
      const next = { again, done: last.then(start).catch(() => {}) }
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
  let cancelCheck: (() => void) | undefined
  function checkLater(): void {
    cancelCheck ??= clock.after(stableMs, () => {
      cancelCheck = undefined
      void read()
    })
  }
  // Any event of the folder: the event of a symbolic link's target has the name of the target.
  const folders = createFolderWatch(
    patterns.map((pattern) => dirname(pattern)),
    readSoon,
  )
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
      cancelCheck?.()
      folders.close()
    },
  }
}
