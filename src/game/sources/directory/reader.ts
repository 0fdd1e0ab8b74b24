import { isAbsolute, relative } from 'node:path'
import type { SourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { decodeProperties, type Properties, parseProperties } from '../../protocol/server-properties.ts'
import type { ServerFiles } from '../source.ts'
import { type ChangeReader, parseOnChange } from './changes.ts'
import { checkFolder, toFolderError } from './folder.ts'
import { createLoaderReader, type Loader } from './loader.ts'
import { createLogFollower, type LogCounts, type LogFacts } from './log-follower.ts'
import { propertyFields } from './to-fields.ts'

/** No properties, icon or keystore of a real server is anywhere near. */
const maxBytes = 1024 * 1024

/** What was found in the folder; each part is undefined where there is none or it could not be read. */
export interface DirectoryContents {
  readonly properties: ServerProperties | undefined
  /** Of any format and size. The same Buffer until the icon changes. */
  readonly icon: Buffer | undefined
  readonly loader: Loader | undefined
  readonly logs: { readonly facts: LogFacts; readonly counts: LogCounts } | undefined
  /** The parts that could not be read. */
  readonly failures: readonly { readonly path: string; readonly error: SourceError }[]
}

export interface ServerProperties {
  readonly properties: Properties
  /** What they say of the game. */
  readonly fields: Partial<Fields>
}

/** The one reader of a server's folder. Only what has changed is read, and only one thing at a time: a disk may hang. */
export interface DirectoryReader {
  /** Everything that the source gives. A part that fails does not fail the others. @throws SourceError where the folder cannot be entered */
  read(): Promise<DirectoryContents>
  /** What the settings of other sources are completed from; undefined while there is no server.properties, or nothing in it. */
  files(): Promise<ServerFiles | undefined>
  close(): void
}

/** Undefined for an empty file: the server may be writing it. */
function parseFile(bytes: Buffer): ServerProperties | undefined {
  const properties = parseProperties(decodeProperties(bytes))
  return properties.size === 0 ? undefined : { properties, fields: propertyFields(properties) }
}

export function createDirectoryReader(folder: string): DirectoryReader {
  const readProperties = parseOnChange(folder, 'server.properties', maxBytes, parseFile)
  const readIcon = parseOnChange(folder, 'server-icon.png', maxBytes, (bytes) => bytes)
  const readLoader = createLoaderReader(folder)
  const log = createLogFollower(folder)
  /** A file that the properties name, by its path: the last one only. */
  let named: { readonly path: string; readonly read: ChangeReader<Buffer> } | undefined
  let last: Promise<unknown> = Promise.resolve()
  let closed = false

  /** After everything that was started before. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
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
    read: () => inTurn(readAll),
    files: () =>
      inTurn(async () => {
        const found = await readProperties()
        if (found === undefined) return undefined
        return {
          properties: found.properties,
          read: (path) => inTurn(() => readNamed(path)),
          managementPort: () => inTurn(readManagementPort),
        }
      }),
    close() {
      if (closed) return
      closed = true
      void inTurn(() => log.close()).catch(() => {})
    },
  }
}
