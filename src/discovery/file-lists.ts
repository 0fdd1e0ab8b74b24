import type { BigIntStats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { decodeText, FileSizeError, fileVersion, readFileUpTo } from '../util/files.ts'
import { oneAtATime } from '../util/one-at-a-time.ts'
import { haveSameItems } from '../util/same-items.ts'
import { wildcard } from '../util/wildcard.ts'
import { createLossCheck } from './lost-servers.ts'
import { DiscoveryError, type ParsedList, type Provider, type ProviderContext, type ServerList } from './provider.ts'

/** Milliseconds between two looks at the files. They are polled because network file systems and bind mounts do not report changes. */
const pollIntervalMs = 500
/** The same while a file is changing: editors truncate files before they write them, or replace them in steps. */
const stableMs = 300
/** Minimum pause between two looks as a multiple of the duration of a look: there may be thousands of files. */
const restFactor = 5
/** Milliseconds after which a file that never stops changing is reported. */
const maxChangingMs = 10_000
const maxBytes = 32 * 1024 * 1024

export interface FileListsOptions extends Pick<ProviderContext, 'clock' | 'changed' | 'measure'> {
  /** Paths; the last segment may contain `*`, which matches any characters. */
  readonly patterns: readonly string[]
  /** Creates what parses one file, as long as it exists. */
  readonly createParser: () => ParseFile
}

/**
 * @param name of the file, for messages
 * @throws DiscoveryError if it is not valid
 */
export type ParseFile = (text: string, name: string) => ParsedList | Promise<ParsedList>

/** With its parser, whose memory is free once the file is gone: a program may write to a new file each time. */
interface TrackedFile {
  readonly parse: ParseFile
  readonly checkLoss: ReturnType<typeof createLossCheck>
  readonly pattern: string
  /** The version that was read last; undefined if reading failed, so that the next poll tries again. */
  readonly version: string | undefined
  readonly list: ServerList
}

interface FileVersion {
  readonly version: string
  readonly stats?: BigIntStats
  readonly error?: unknown
}

const missing = 'it does not exist'
const unstable = 'it keeps changing; it is read when it stops'
const empty: ParsedList = { servers: [], refused: [] }

function reasonOf(error: unknown): string {
  if (error instanceof DiscoveryError) return error.message
  if (error instanceof FileSizeError) return error.reason
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? missing : code === undefined ? message : `it cannot be read (${code})`
}

/** The existing files of a pattern, sorted by name; a path without `*` is returned as it is. */
async function expand(pattern: string): Promise<readonly string[]> {
  const [folder, name] = [dirname(pattern), basename(pattern)]
  if (!name.includes('*')) return [pattern]
  const matches = wildcard(name)
  const names = await readdir(folder)
  return names
    .filter((name) => matches(name) && !name.startsWith('.'))
    .sort()
    .map((name) => join(folder, name))
}

/** Not the pattern, which may be the path of a file. */
const folderKey = (pattern: string): string => `folder of ${pattern}`

/**
 * Reads lists of servers from files, and again when they change: by a write in place, a rename, a changed symbolic link or a replaced
 * folder. A changed file is read once two looks have found it the same: half of a list would remove servers. If a file is no longer valid,
 * its previous servers stay; those of a file that no longer matches its pattern are removed.
 */
export function createFileLists({ patterns, createParser, clock, changed, measure }: FileListsOptions): Provider {
  let files: ReadonlyMap<string, TrackedFile> = new Map()
  /** Patterns whose folder cannot be listed. */
  const failures = new Map<string, ServerList>()
  /** What the last look found of files, and of folders, that differ from what was read. `since`: monotonic milliseconds. */
  let changes: ReadonlyMap<string, { readonly version: string; readonly since: number }> = new Map()
  let seen = new Map(changes)
  let hasRead = false
  let isClosed = false

  /** Whether the last look found another version. */
  function isChanging(path: string, version: string): boolean {
    const before = changes.get(path)
    if (before?.version === version) return false
    seen.set(path, { version, since: before?.since ?? clock.now() })
    return true
  }

  /** The version of a file, also of one that cannot be read. */
  async function versionOf(path: string): Promise<FileVersion> {
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
    const found = await versionOf(path)
    const { version } = found
    if (before?.version === version && !again) return before
    if (hasRead && !again && isChanging(path, version)) return reportChanging(path, before)
    const next = await readFrom(path, before ?? newFile(path, pattern), found)
    // It has changed while it was read.
    if (hasRead && !again && isChanging(path, (await versionOf(path)).version)) return before
    const isSame = before !== undefined && before.version === next.version && before.list.error === next.list.error
    return isSame && next.list.error !== undefined ? before : next
  }

  function reportChanging(path: string, before: TrackedFile | undefined): TrackedFile | undefined {
    const { since } = seen.get(path) ?? { since: clock.now() }
    if (before === undefined || before.list.error === unstable || clock.now() - since < maxChangingMs) return before
    // Also read if it becomes what it was.
    return { ...before, version: undefined, list: { ...before.list, error: unstable } }
  }

  const newFile = (path: string, pattern: string): TrackedFile => ({
    ...{ pattern, version: undefined, parse: createParser(), checkLoss: createLossCheck() },
    list: { ...empty, name: basename(path), place: path },
  })

  async function readFrom(path: string, file: TrackedFile, { version, stats, error }: FileVersion): Promise<TrackedFile> {
    /** The version that need not be read again. */
    let read = stats === undefined ? version : undefined
    try {
      if (stats === undefined) throw error
      // A pipe or device may never end and would block the reads of all lists.
      if (!stats.isFile()) throw new DiscoveryError('it is not a file')
      const text = decodeText(await readFileUpTo(path, maxBytes))
      read = version
      const list = await measure(path, () => file.parse(text, file.list.name))
      // A loss has to be confirmed by the next look.
      read = undefined
      const { name, place } = file.list
      return { ...file, version, list: { name, place, ...file.checkLoss(file.list, list), readAt: clock.wall() } }
    } catch (failure) {
      return { ...file, version: read, list: { ...file.list, error: reasonOf(failure) } }
    }
  }

  const previousOf = (pattern: string): readonly string[] =>
    [...files].flatMap(([path, file]) => (file.pattern === pattern ? [path] : []))

  async function pathsOf(pattern: string, again: boolean): Promise<readonly string[]> {
    const isNew = (path: string, version: string) => hasRead && !again && isChanging(path, version)
    try {
      const paths = await expand(pattern)
      failures.delete(pattern)
      // Some editors remove a file for a moment when they save it.
      const found = new Set(paths)
      const removed = previousOf(pattern).filter((path) => !found.has(path) && isNew(path, missing))
      return [...paths, ...removed].sort()
    } catch (error) {
      const before = failures.get(pattern)
      const reason = `its folder: ${reasonOf(error)}`
      if (before === undefined && isNew(folderKey(pattern), reason)) return previousOf(pattern)
      if (before?.error !== reason) failures.set(pattern, { ...empty, name: basename(pattern), place: pattern, error: reason })
      return previousOf(pattern)
    }
  }

  async function readAll(again: boolean): Promise<void> {
    if (isClosed) return
    seen = new Map()
    const failing = [...failures.values()]
    const next = new Map<string, TrackedFile>()
    for (const pattern of patterns) {
      for (const path of await pathsOf(pattern, again)) {
        const file = next.has(path) ? undefined : await readOne(path, pattern, again)
        if (file !== undefined) next.set(path, file)
      }
    }
    hasRead = true
    changes = seen
    const before = [...files.values()]
    const [after, nowFailing] = [[...next.values()], [...failures.values()]]
    files = next
    if (!isClosed && !(haveSameItems(before, after) && haveSameItems(failing, nowFailing))) changed()
  }

  const read = oneAtATime(readAll)
  let cancelPoll = () => {}
  const poll = (durationMs = 0) => {
    if (isClosed) return
    cancelPoll = clock.after(Math.max(changes.size > 0 ? stableMs : pollIntervalMs, restFactor * durationMs), async () => {
      const started = clock.now()
      await read()
      poll(clock.now() - started)
    })
  }
  const firstRead = read()
  firstRead.then(() => poll())

  return {
    firstRead,
    lists: () => [...failures.values(), ...[...files.values()].map(({ list }) => list)],
    reload: () => read(true),
    close() {
      isClosed = true
      cancelPoll()
    },
  }
}
