import { isRecord } from '../../game/protocol/is-record.ts'
import { DiscoveryError, defineProvider } from '../provider.ts'
import { type ProxiedServer, path, readProxyFile } from '../proxy-servers.ts'
import { parseJson } from '../target-groups.ts'

/**
 * The backends, each once: one to which several host names lead is called by the first of them, which its handshake carries too.
 * Format: https://github.com/itzg/mc-router#routing-configuration
 */
function parseRoutes(text: string): readonly ProxiedServer[] {
  const routes = parseJson(text)
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
  meaning:
    'Each backend is a server, called as the first host name that leads to it; one that only `default-server` names is called `default`.',
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
