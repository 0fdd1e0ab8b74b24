import type { ServerSettings } from '../server.ts'
import { createDirectorySource } from './directory/index.ts'
import { completeSettings, readProperties } from './directory/settings.ts'
import { createManagementSource } from './management/index.ts'
import { createQuerySource } from './query/index.ts'
import { createRconSource } from './rcon/index.ts'
import type { Source, SourceContext, SourceSet } from './source.ts'
import { createStatusSource } from './status/index.ts'

type Make = (server: ServerSettings, context: SourceContext) => Source | undefined

/** By the setting that switches it on, status first. */
const makers: readonly (readonly [keyof ServerSettings, Make])[] = [
  ['address', ({ address }, context) => address && createStatusSource(address, context)],
  ['rcon', ({ rcon }, context) => rcon && createRconSource(rcon, context)],
  ['management', ({ management }, context) => management && createManagementSource(management, context)],
  ['query', ({ query }, context) => query && createQuerySource(query, context)],
]

/**
 * The sources that a server's settings switch on. Where its directory is given, `refresh` fills in from it what the settings leave
 * open, and replaces the sources whose settings have changed.
 */
export function createSources(server: ServerSettings, context: SourceContext): SourceSet {
  const made = new Map<keyof ServerSettings, { readonly key: string; readonly source: Source }>()
  const directory =
    server.directory === undefined
      ? undefined
      : createDirectorySource(server.directory, context, { needsProperties: server.address === undefined })
  let sources: readonly Source[] = []
  let closed = false
  let looking = false

  function make(settings: ServerSettings): void {
    for (const [setting, toSource] of makers) {
      const key = JSON.stringify(settings[setting])
      const before = made.get(setting)
      if (before?.key === key) continue
      before?.source.close()
      made.delete(setting)
      const source = toSource(settings, context)
      if (source) made.set(setting, { key, source })
    }
    const network = makers.flatMap(([setting]) => made.get(setting)?.source ?? [])
    sources = directory ? [...network, directory] : network
  }

  make(server)
  return {
    ...(server.directory !== undefined && {
      async refresh() {
        // One look at a time: a disk that hangs is waited for once, and the polls go on with what is known.
        if (looking) return
        looking = true
        try {
          const properties = await readProperties(server.directory ?? '')
          const settings = properties && (await completeSettings(server, properties))
          if (settings && !closed) make(settings)
        } catch {
          // The directory source reads the same file, and says in its state what is wrong with it.
        } finally {
          looking = false
        }
      },
    }),
    list: () => sources,
    close() {
      closed = true
      for (const { source } of made.values()) source.close()
      directory?.close()
    },
  }
}
