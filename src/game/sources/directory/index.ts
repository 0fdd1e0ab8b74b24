import { abortable } from '../../../abortable.ts'
import { existingFolder } from '../../../config/kinds.ts'
import { SourceError } from '../../errors.ts'
import type { Fields, GameMode } from '../../fields.ts'
import { integerIn, type Properties } from '../../protocol/server-properties.ts'
import { stripFormatting } from '../../protocol/text.ts'
import type { Source, SourceContext, SourceDescriptor } from '../source.ts'
import { checkFolder, folderName, readInside, toFolderError } from './folder.ts'
import { findLoader, type Loader } from './loader.ts'
import type { LogFacts } from './log-follower.ts'
import { createLogFollower } from './log-follower.ts'
import { readProperties } from './settings.ts'

const advice =
  "it tells where the server listens: give the folder that holds the file itself, or set the server's address too (MC_SERVER, or address in the configuration file)"
const mostIconBytes = 1024 * 1024
const maxKeystoreBytes = 1024 * 1024
/** The loader changes when somebody updates the server: looking every so many ms is enough. */
const loaderEvery = 60_000

export interface DirectoryOptions {
  /** Nothing else tells where the server listens: without its server.properties, which does, there is nothing to read it for. */
  readonly needsProperties?: boolean
}

/** The server's own folder, read only: properties, icon, loader and log. Nothing outside of it is read, whatever links lead there. */
export function createDirectorySource(
  folder: string,
  { clock, log: serviceLog }: SourceContext,
  { needsProperties = false }: DirectoryOptions = {},
): Source {
  const target = folderName(folder)
  const closing = new AbortController()
  const log = createLogFollower(folder)
  let loader: Loader | undefined
  let hadProperties = false
  const told = new Set<string>()
  let lookAgainAt = Number.NEGATIVE_INFINITY
  /** A disk that hangs must not gather reads: there is one at a time, and polls join it. */
  let underWay: Promise<Partial<Fields>> | undefined

  /** What does not fail the poll is told here, once; what fails it is told by whoever polls. */
  function tell({ code, message }: SourceError): void {
    if (told.size >= 20 || told.has(message)) return
    told.add(message)
    serviceLog.warn({ source: 'directory', code, folder }, message)
  }

  async function read(): Promise<Partial<Fields>> {
    await checkFolder(folder)
    const failures: SourceError[] = []
    /** One part that fails does not fail the others. */
    const part = <T>(path: string, reading: Promise<T>): Promise<T | undefined> =>
      reading.catch((error: unknown) => {
        failures.push(toFolderError(error, folder, path))
        return undefined
      })
    const properties = await part('server.properties', readProperties(folder))
    hadProperties ||= properties !== undefined
    // Once they were read, a server that is writing them may leave them empty for a moment.
    if (!hadProperties && failures.length === 0) {
      failures.push(new SourceError('unsupported', `${target}: there is no server.properties, or nothing in it`))
    }
    const [unread] = failures
    if (unread && !hadProperties && needsProperties) throw new SourceError(unread.code, `${unread.message}; ${advice}`)
    const favicon = await part('server-icon.png', readInside(folder, 'server-icon.png', mostIconBytes))
    const logged = await part('logs/latest.log', log.read())
    if (clock.now() >= lookAgainAt) {
      loader = await part('the loader', findLoader(folder))
      lookAgainAt = clock.now() + loaderEvery
    }
    const nothing = properties === undefined && logged === undefined && favicon === undefined && loader === undefined
    const fatal = nothing
      ? (failures.shift() ?? new SourceError('unsupported', `${target}: nothing of a server is left there`))
      : undefined
    failures.forEach(tell)
    if (fatal) throw fatal
    return {
      edition: 'java',
      ...(properties && fromProperties(properties)),
      ...(favicon && { favicon }),
      ...loaderFields(logged?.facts ?? {}, loader),
      ...logged?.counts,
    }
  }

  return {
    name: 'directory',
    target,
    async poll(signal) {
      const fail = () => ending.abort(closing.signal.aborted ? closing.signal.reason : signal.reason)
      const ending = new AbortController()
      for (const one of [signal, closing.signal]) {
        one.addEventListener('abort', fail)
        if (one.aborted) fail()
      }
      try {
        ending.signal.throwIfAborted()
        underWay ??= read().finally(() => {
          underWay = undefined
        })
        return { source: 'directory', fields: await abortable(underWay, ending.signal), at: clock.now() }
      } catch (error) {
        throw toFolderError(error, folder)
      } finally {
        for (const one of [signal, closing.signal]) one.removeEventListener('abort', fail)
      }
    },
    async files() {
      const properties = await readProperties(folder)
      return (
        properties && {
          properties,
          async read(path) {
            const inside = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
            if (inside.startsWith('/')) return undefined
            return readInside(folder, inside, maxKeystoreBytes).catch(() => undefined)
          },
        }
      )
    },
    close() {
      if (closing.signal.aborted) return
      closing.abort(new SourceError('aborted', `${target}: no longer watched`))
      const end = () => void log.close().catch(() => {})
      if (underWay) underWay.then(end, end)
      else end()
    },
  }
}

const gameModes: readonly GameMode[] = ['SURVIVAL', 'CREATIVE', 'ADVENTURE', 'SPECTATOR']
const difficulties = ['peaceful', 'easy', 'normal', 'hard']

function fromProperties(properties: Properties): Partial<Fields> {
  const text = (key: string) => properties.get(key)?.trim() || undefined
  const number = (key: string, least: number, as: keyof Fields) => {
    const value = integerIn(properties, key, least, 2 ** 31 - 1)
    return value === undefined ? {} : { [as]: value }
  }
  // By number to 1.13, by name since.
  const mode = text('gamemode')
  const defaultGameMode = gameModes.find((name, index) => mode === String(index) || mode?.toUpperCase() === name)
  const given = text('difficulty')?.toLowerCase()
  const difficulty = difficulties.find((name, index) => given === String(index) || given === name)
  const motd = properties.get('motd')
  const ip = text('server-ip')
  const levelName = text('level-name')
  return {
    ...(motd !== undefined && { motd: stripFormatting(motd) }),
    ...(ip !== undefined && { ip }),
    ...number('server-port', 1, 'port'),
    ...number('max-players', 0, 'playersMax'),
    ...number('view-distance', 1, 'viewDistance'),
    ...number('pause-when-empty-seconds', -1, 'pauseWhenEmpty'),
    ...(defaultGameMode && { defaultGameMode }),
    ...(difficulty !== undefined && { difficulty }),
    ...(levelName !== undefined && { levelName }),
  }
}

/** The log tells what really runs; the files what is installed. A server whose log names no loader and that has none is vanilla. */
function loaderFields(facts: LogFacts, found: Loader | undefined): Partial<Fields> {
  const { version, startupDuration } = facts
  const loader = facts.loader ?? found?.loader ?? (version === undefined ? undefined : 'vanilla')
  const loaderVersion = facts.loader === undefined ? found?.version : facts.loaderVersion
  return {
    ...(version !== undefined && { version }),
    ...(startupDuration !== undefined && { startupDuration }),
    ...(loader !== undefined && { loader, software: loader }),
    ...(loaderVersion !== undefined && { loaderVersion }),
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
