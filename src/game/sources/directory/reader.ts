import { isAbsolute, relative } from 'node:path'
import { SourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { type ServerFiles, unmeasured } from '../source.ts'
import { type ChangeReader, parseOnChange } from './changes.ts'
import { checkFolder, folderName, toFolderError } from './folder.ts'
import { createLoaderReader, type Loader } from './loader.ts'
import { createLogFollower, type LogCounts, type LogFacts } from './log-follower.ts'
import { decodeProperties, type Properties, parseProperties } from './server-properties.ts'
import { propertyFields } from './to-fields.ts'

/** Far more than any real properties file, icon or keystore. */
const maxBytes = 1024 * 1024

/** The contents of the folder. Each part is undefined if it does not exist or could not be read. */
export interface DirectoryContents {
  readonly properties: ServerProperties | undefined
  /** In any format and size. The same Buffer until the icon changes. */
  readonly icon: Buffer | undefined
  readonly loader: Loader | undefined
  readonly logs: { readonly facts: LogFacts; readonly counts: LogCounts } | undefined
  /** The parts that could not be read. */
  readonly failures: readonly { readonly path: string; readonly error: SourceError }[]
}

export interface ServerProperties {
  readonly properties: Properties
  /** The fields that are derived from them. */
  readonly fields: Partial<Fields>
}

/** Undefined for an empty file: the server may be writing it. */
function parseFile(bytes: Buffer): ServerProperties | undefined {
  const properties = parseProperties(decodeProperties(bytes))
  return properties.size === 0 ? undefined : { properties, fields: propertyFields(properties) }
}

/** Reads a server's folder. Only changed files are read, one at a time, since the disk may hang. */
export function createDirectoryReader(folder: string, measure = unmeasured) {
  const readProperties = parseOnChange(folder, 'server.properties', maxBytes, (bytes) => measure(() => parseFile(bytes)))
  const readIcon = parseOnChange(folder, 'server-icon.png', maxBytes, (bytes) => bytes)
  const readLoader = createLoaderReader(folder, measure)
  const log = createLogFollower(folder, measure)
  /** The last file that was read by its path, such as the keystore. */
  let named: { readonly path: string; readonly read: ChangeReader<Buffer> } | undefined
  let last: Promise<unknown> = Promise.resolve()
  let closed = false

  /** Runs the work after all work that was enqueued before. After close(), it would open files again. */
  function enqueue<T>(work: () => Promise<T>): Promise<T> {
    if (closed) return Promise.reject(new SourceError('aborted', `${folderName(folder)}: the folder is no longer read`))
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }

  async function readAll(): Promise<DirectoryContents> {
    await checkFolder(folder)
    const failures: { path: string; error: SourceError }[] = []
    const part = <T>(path: string, read: Promise<T>): Promise<T | undefined> =>
      read.catch((error: unknown) => {
        failures.push({ path, error: toFolderError(error, folder, path) })
        return undefined
      })
    return {
      properties: await part('server.properties', readProperties()),
      icon: await part('server-icon.png', readIcon()),
      logs: await part('logs/latest.log', log.read()),
      loader: await part('the loader', readLoader()),
      failures,
    }
  }

  async function readNamed(path: string): Promise<Buffer | undefined> {
    const inside = isAbsolute(path) ? relative(folder, path) : path
    if (named?.path !== inside) named = { path: inside, read: parseOnChange(folder, inside, maxBytes, (bytes) => bytes) }
    return named.read().catch(() => undefined)
  }

  const readManagementPort = (): Promise<number | undefined> =>
    log.read().then(
      (logs) => logs?.facts.managementPort,
      () => undefined,
    )

  return {
    /** Reads all parts, independently of errors in the others. @throws SourceError if the folder is not accessible */
    read: (): Promise<DirectoryContents> => enqueue(readAll),
    /** Returns the files for discovering settings; undefined if server.properties does not exist or is empty. */
    files: (): Promise<ServerFiles | undefined> =>
      enqueue(async () => {
        const found = await readProperties()
        if (found === undefined) return undefined
        return {
          properties: found.properties,
          read: (path) => enqueue(() => readNamed(path)),
          managementPort: () => enqueue(readManagementPort),
        }
      }),
    close(): void {
      if (closed) return
      void enqueue(() => log.close()).catch(() => {})
      closed = true
    },
  }
}
