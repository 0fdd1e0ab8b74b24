import { abortable } from '../../../abortable.ts'
import { existingFolder } from '../../../config/kinds.ts'
import { SourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import type { Reading, Source, SourceContext, SourceDescriptor } from '../source.ts'
import { folderName, toFolderError } from './folder.ts'
import { createDirectoryReader } from './reader.ts'
import { loaderFields } from './to-fields.ts'

const advice =
  "it says where the server listens: give the folder that holds the file itself, or set the server's address too (MC_SERVER)"
/** So many different failures of single files are logged. */
const maxLogged = 20

export interface DirectoryOptions {
  /** Nothing else says where the server listens: a folder without server.properties is of no use. */
  readonly needsProperties?: boolean
}

/** The server's own folder, read only: properties, icon, loader and log. Nothing outside of it is read, whatever links lead there. */
export function createDirectorySource(
  folder: string,
  { clock, log }: SourceContext,
  { needsProperties = false }: DirectoryOptions = {},
): Source {
  const target = folderName(folder)
  const reader = createDirectoryReader(folder)
  const logged = new Set<string>()
  let hadProperties = false
  /** A disk that hangs must not gather reads: there is one at a time, and polls join it. */
  let reading: Promise<Pick<Reading, 'fields' | 'failures'>> | undefined

  /** For what does not fail the poll: each message once. What fails it is logged by whoever polls. */
  function logOnce({ code, message }: SourceError): void {
    if (logged.size >= maxLogged || logged.has(message)) return
    logged.add(message)
    log.warn({ source: 'directory', code, folder }, message)
  }

  async function read(): Promise<Pick<Reading, 'fields' | 'failures'>> {
    const { properties, icon, loader, logs, failures } = await reader.read()
    const left = [...failures]
    hadProperties ||= properties !== undefined
    // Once they were read, a server that is writing them may leave them empty for a moment.
    if (!hadProperties && !left.some(({ path }) => path === 'server.properties')) {
      const error = new SourceError('unsupported', `${target}: there is no server.properties, or nothing in it`)
      left.unshift({ path: 'server.properties', error })
    }
    const [first] = left
    if (first && !hadProperties && needsProperties)
      throw new SourceError(first.error.code, `${first.error.message}; ${advice}`, { cause: first.error })
    const isEmpty = [properties, icon, loader, logs].every((part) => part === undefined)
    const fatal = isEmpty
      ? (left.shift()?.error ?? new SourceError('unsupported', `${target}: nothing of a server is left there`))
      : undefined
    for (const { error } of left) logOnce(error)
    if (fatal) throw fatal
    const fields: Partial<Fields> = {
      edition: 'java',
      ...properties?.fields,
      ...(icon && { favicon: icon }),
      ...loaderFields(logs?.facts ?? {}, loader),
      ...logs?.counts,
    }
    return { fields, failures: left.map(({ error }) => error) }
  }

  return {
    name: 'directory',
    target,
    async poll(signal) {
      signal.throwIfAborted()
      reading ??= read().finally(() => {
        reading = undefined
      })
      const contents = await abortable(reading, signal).catch((error: unknown) => {
        throw toFolderError(error, folder)
      })
      return { source: 'directory', at: clock.now(), ...contents }
    },
    files: reader.files,
    close: reader.close,
  }
}

export interface DirectorySettings {
  /** Absolute. */
  readonly path: string
}

export const directory: SourceDescriptor<'directory', DirectorySettings> = {
  name: 'directory',
  title: 'Directory',
  settings: {
    path: {
      env: 'MC_DIRECTORY',
      file: 'directory',
      kind: existingFolder('a folder that exists, the one with server.properties'),
      required: true,
      otherwise: 'off',
      meaning: "the game server's own directory; fills in what is not set of its address, RCON, management protocol and query",
    },
  },
  fields: {
    edition: 40,
    version: 50,
    // The files say what the server was started with; the protocols know of software and loaders only what these report.
    software: 10,
    loader: 10,
    loaderVersion: 10,
    motd: 40,
    favicon: 20,
    playersMax: 50,
    defaultGameMode: 20,
    ip: 10,
    port: 20,
    difficulty: 30,
    viewDistance: 20,
    pauseWhenEmpty: 20,
    levelName: 10,
    startupDuration: 10,
    overloadWarnings: 10,
    overloadSkippedTicks: 10,
    logJoins: 10,
    logLeaves: 10,
  },
  // Its failures say themselves what may help.
  hints: { notConfigured: 'MC_DIRECTORY' },
  cost: 'none: only files that have changed, and what is new in `logs/latest.log`, are read',
  network: false,
  pushes: false,
  editions: ['java'],
  locatesServer: true,
  completesOthers: true,
  create: ({ path }, context) => createDirectorySource(path, context, { needsProperties: context.address === undefined }),
}
