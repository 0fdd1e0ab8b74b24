import { existingFolder } from '../../../settings/kinds/index.ts'
import { abortable } from '../../../util/abortable.ts'
import { SourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import type { Reading, Source, SourceContext, SourceDescriptor } from '../source.ts'
import { folderName, toFolderError } from './folder.ts'
import { createDirectoryReader } from './reader.ts'
import { loaderFields } from './to-fields.ts'

const advice =
  "the server's address is read from it: set the folder that contains this file, or the address of the server (MC_SERVER)"

export interface DirectoryOptions {
  /** The address of the server is not configured, so a folder without server.properties is an error. */
  readonly needsProperties?: boolean
}

/** Reads the server's own folder: properties, icon, loader and log. Symbolic links that lead out of the folder are not followed. */
export function createDirectorySource(
  folder: string,
  { clock, measure }: SourceContext,
  { needsProperties = false }: DirectoryOptions = {},
): Source {
  const target = folderName(folder)
  const reader = createDirectoryReader(folder, measure)
  let hadProperties = false
  /** Only one read at a time, which polls join: if the disk hangs, reads must not pile up. */
  let reading: Promise<Pick<Reading, 'fields' | 'failures'>> | undefined

  async function read(): Promise<Pick<Reading, 'fields' | 'failures'>> {
    const { properties, icon, loader, logs, failures } = await reader.read()
    const errors = [...failures]
    hadProperties ||= properties !== undefined
    // Only an error before the first successful read: the file may be empty for a moment while the server writes it.
    if (!hadProperties && !errors.some(({ path }) => path === 'server.properties')) {
      const error = new SourceError('unsupported', `${target}: server.properties does not exist or is empty`)
      errors.unshift({ path: 'server.properties', error })
    }
    const [first] = errors
    if (first && !hadProperties && needsProperties)
      throw new SourceError(first.error.code, `${first.error.message}; ${advice}`, { cause: first.error })
    const isEmpty = [properties, icon, loader, logs].every((part) => part === undefined)
    if (isEmpty) {
      const reasons = errors.map(({ error }) => error.message).join('; ')
      throw new SourceError(first?.error.code ?? 'unsupported', reasons || `${target}: the folder no longer contains a server`)
    }
    const fields: Partial<Fields> = {
      edition: 'java',
      ...properties?.fields,
      ...(icon && { favicon: icon }),
      ...loaderFields(logs?.facts ?? {}, loader),
      ...logs?.counts,
    }
    return { fields, failures: errors.map(({ error }) => error) }
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
      meaning: 'directory of the game server; provides the address, RCON, management protocol and query unless these are set',
    },
  },
  fields: {
    edition: 40,
    version: 50,
    // Ranked first: the files contain the installed software, the protocols only what the software reports.
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
  // The error messages contain hints.
  hints: { notConfigured: 'MC_DIRECTORY' },
  cost: 'none: only changed files and new lines of `logs/latest.log` are read',
  network: false,
  pushes: false,
  editions: ['java'],
  locatesServer: true,
  completesOthers: true,
  create: ({ path }, context) => createDirectorySource(path, context, { needsProperties: context.address === undefined }),
}
