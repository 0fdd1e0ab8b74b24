import { isRecord } from '../../util/is-record.ts'
import { DiscoveryError, defineProvider } from '../provider.ts'
import { type ProxiedServer, path, readProxyFile } from '../proxy-servers.ts'
import { parseList } from '../target-groups.ts'

/**
 * The backends without duplicates. One with several host names gets the first as its name, which is also sent in the handshake.
 * Format: https://github.com/itzg/mc-router#routing-configuration
 */
function parseRoutes(text: string): readonly ProxiedServer[] {
  const routes = parseList(text)
  if (!isRecord(routes)) throw new DiscoveryError('expected an object with mappings')
  const { mappings = {}, 'default-server': fallback } = routes
  if (!isRecord(mappings)) throw new DiscoveryError('mappings: expected an object of host names and addresses')
  const backends = new Map<unknown, ProxiedServer>()
  for (const [hostname, address] of Object.entries(mappings))
    if (!backends.has(address)) backends.set(address, { name: hostname, address, more: { hostname } })
  if (typeof fallback === 'string' && fallback !== '' && !backends.has(fallback))
    backends.set(fallback, { name: 'default', address: fallback })
  return [...backends.values()]
}

export const mcRouter = defineProvider({
  name: 'mc-router',
  title: 'the routes file of mc-router',
  meaning: 'Each backend is a server, named after its first host name; one that is only in `default-server` is named `default`.',
  settings: {
    discoveryMcRouter: {
      env: 'DISCOVERY_MC_ROUTER',
      file: 'discovery.mcRouter',
      kind: path,
      meaning: 'routes file of mc-router in JSON, whose backends are watched',
    },
  },
  start: ({ discoveryMcRouter }, context) => readProxyFile(discoveryMcRouter, context, parseRoutes),
})
