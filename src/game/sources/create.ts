import type { ServerSettings } from '../server.ts'
import { createRconSource } from './rcon.ts'
import type { Source, SourceContext, SourceSet } from './source.ts'
import { createStatusSource } from './status.ts'

/** The sources that a server's settings switch on, status first. */
export function createSources(server: ServerSettings, context: SourceContext): SourceSet {
  const sources: readonly Source[] = [
    ...(server.address ? [createStatusSource(server.address, context)] : []),
    ...(server.rcon ? [createRconSource(server.rcon, context)] : []),
  ]
  return {
    list: () => sources,
    close() {
      for (const source of sources) source.close()
    },
  }
}
