import type { ServerSettings } from '../server.ts'
import { createManagementSource } from './management.ts'
import { createQuerySource } from './query.ts'
import { createRconSource } from './rcon.ts'
import type { Source, SourceContext, SourceSet } from './source.ts'
import { createStatusSource } from './status.ts'

/** The sources that a server's settings switch on, status first. */
export function createSources(server: ServerSettings, context: SourceContext): SourceSet {
  const { address, rcon, management, query } = server
  const sources: readonly Source[] = [
    ...(address ? [createStatusSource(address, context, context.network)] : []),
    ...(rcon ? [createRconSource(rcon, context)] : []),
    ...(management ? [createManagementSource(management, context)] : []),
    ...(query ? [createQuerySource(query, context)] : []),
  ]
  return {
    list: () => sources,
    close() {
      for (const source of sources) source.close()
    },
  }
}
