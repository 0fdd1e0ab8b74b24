import { integerIn, type Properties, readProperties } from '../directory-settings.ts'
import { SourceError, toSourceError } from '../errors.ts'
import type { Fields, GameMode } from '../fields.ts'
import { readInside } from '../folder.ts'
import { findLoader, type Loader } from '../loader.ts'
import type { LogFacts } from '../log-follower.ts'
import { createLogFollower } from '../log-follower.ts'
import { abortable } from '../network.ts'
import { stripFormatting } from '../protocol/text.ts'
import type { Source, SourceContext } from './source.ts'

const mostIconBytes = 1024 * 1024
/** The loader changes when somebody updates the server: looking every so many ms is enough. */
const loaderEvery = 60_000

/** The server's own folder, read only: properties, icon, loader and log. Nothing outside of it is read, whatever links lead there. */
export function createDirectorySource(folder: string, { clock, log: serviceLog }: SourceContext): Source {
  const closing = new AbortController()
  const log = createLogFollower(folder)
  let loader: Loader | undefined
  const told = new Set<string>()
  let lookAgainAt = Number.NEGATIVE_INFINITY
  /** A disk that hangs must not gather reads: there is one at a time, and polls join it. */
  let underWay: Promise<Partial<Fields>> | undefined

  async function read(): Promise<Partial<Fields>> {
    const errors: unknown[] = []
    const part = <T>(reading: Promise<T>): Promise<T | undefined> =>
      reading.catch((error: unknown) => {
        errors.push(error)
        const { code, message } = toSourceError(error, folder)
        // One part that fails does not fail the others; it is told once.
        if (told.size < 20 && !told.has(message)) serviceLog.warn({ source: 'directory', code }, message)
        told.add(message)
        return undefined
      })
    const properties = await part(readProperties(folder))
    const favicon = await part(readInside(folder, 'server-icon.png', mostIconBytes))
    const logged = await part(log.read())
    if (clock.now() >= lookAgainAt) {
      loader = await part(findLoader(folder))
      lookAgainAt = clock.now() + loaderEvery
    }
    if (properties === undefined && logged === undefined && favicon === undefined && loader === undefined) {
      throw errors[0] ?? new SourceError('unsupported', `${folder}: no server.properties and no logs/latest.log there`)
    }
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
    target: folder,
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
        throw toSourceError(error, folder)
      } finally {
        for (const one of [signal, closing.signal]) one.removeEventListener('abort', fail)
      }
    },
    close() {
      if (closing.signal.aborted) return
      closing.abort(new SourceError('aborted', `${folder}: no longer watched`))
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
