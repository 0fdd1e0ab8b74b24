import type { ServerSettings } from '../server.ts'
import type { Source, SourceContext, SourceSet } from './source.ts'

/** The sources that a server's settings switch on, status first. */
export function createSources(server: ServerSettings, context: SourceContext): SourceSet {
  void server
  void context
  const sources: readonly Source[] = []
  return {
    list: () => sources,
    close() {
      for (const source of sources) source.close()
    },
  }
}
