import { isMap, parseTree } from '../../util/yaml.ts'
import { DiscoveryError, defineProvider } from '../provider.ts'
import { type ProxiedServer, path, readProxyFile } from '../proxy-servers.ts'

/** Format: https://www.spigotmc.org/wiki/bungeecord-configuration-guide/ */
function parseServers(text: string, name: string): readonly ProxiedServer[] {
  const problems: string[] = []
  const tree = parseTree(text, name, problems)
  if (tree === undefined) throw new DiscoveryError(problems.join('; '))
  const servers = isMap(tree) ? tree.get('servers') : undefined
  if (!isMap(servers)) throw new DiscoveryError('it has no mapping "servers"')
  return [...servers].map(([name, server]) => ({ name, address: isMap(server) ? server.get('address') : undefined }))
}

export const bungeecord = defineProvider({
  name: 'bungeecord',
  title: '`config.yml` of BungeeCord and Waterfall',
  meaning: 'Each entry of `servers` is a server.',
  settings: {
    discoveryBungeecord: {
      env: 'DISCOVERY_BUNGEECORD',
      file: 'discovery.bungeecord',
      kind: path,
      meaning: 'config.yml of a BungeeCord proxy, whose servers are watched',
    },
  },
  start: ({ discoveryBungeecord }, context) => readProxyFile(discoveryBungeecord, context, parseServers),
})
