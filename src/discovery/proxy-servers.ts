import { text } from '../settings/kinds/index.ts'
import { mapInSlices } from '../util/pauses.ts'
import { createFileLists } from './file-lists.ts'
import { attempt, DiscoveryError, maxServers, type ParsedList, type Provider, type ProviderContext } from './provider.ts'

/** A server in the settings of a proxy. */
export interface ProxiedServer {
  readonly name: string
  readonly address: unknown
  /** Other settings, by key in an entry of `servers`. */
  readonly more?: Readonly<Record<string, string>>
}

/** The kind of a path; the file need not exist yet. */
export const path = { ...text, example: '/srv/proxy/config', expected: 'the path of a file' }

/**
 * Parses the servers, in slices; those that are not valid are ignored.
 * @throws DiscoveryError if there are too many
 */
async function toServers(
  entries: readonly ProxiedServer[],
  { readServer }: Pick<ProviderContext, 'readServer'>,
): Promise<ParsedList> {
  if (entries.length > maxServers) throw new DiscoveryError(`it has ${entries.length} servers, more than ${maxServers}`)
  const results = await mapInSlices(entries, ({ name, address, more = {} }) =>
    attempt(() => {
      const place = `server ${JSON.stringify(name)}`
      if (typeof address !== 'string') throw new DiscoveryError(`${place} has no address; expected host:port`)
      return readServer(new Map(Object.entries({ name, address, ...more })), place)
    }),
  )
  return {
    servers: results.flatMap((result) => (result instanceof DiscoveryError ? [] : [result])),
    refused: results.flatMap((result) => (result instanceof DiscoveryError ? [result.message] : [])),
  }
}

/** Reads the servers of a proxy from its settings file. @param parse throws DiscoveryError if the file is not valid */
export const readProxyFile = (
  file: string | undefined,
  context: ProviderContext,
  parse: (text: string, name: string) => readonly ProxiedServer[],
): Provider =>
  createFileLists({
    ...context,
    patterns: file === undefined ? [] : [file],
    createParser: () => (text, name) => toServers(parse(text, name), context),
  })
