import { isRecord } from '../../util/is-record.ts'
import { load } from '../../util/load.ts'
import { DiscoveryError, defineProvider } from '../provider.ts'
import { type ProxiedServer, path, readProxyFile } from '../proxy-servers.ts'

function parseToml(text: string) {
  const { parse, TomlError } = load<typeof import('smol-toml')>('smol-toml')
  try {
    return parse(text)
  } catch (error) {
    // Not its message, which quotes the text and so may contain a secret.
    if (error instanceof TomlError) throw new DiscoveryError(`line ${error.line}, column ${error.column}: not valid TOML`)
    throw error
  }
}

/** Format: https://docs.papermc.io/velocity/configuration */
function parseServers(text: string): readonly ProxiedServer[] {
  const { servers } = parseToml(text)
  if (!isRecord(servers)) throw new DiscoveryError('it has no table [servers]')
  // `try` is the order in which players are sent to the servers.
  return Object.entries(servers).flatMap(([name, address]) => (name === 'try' ? [] : [{ name, address }]))
}

export const velocity = defineProvider({
  name: 'velocity',
  title: '`velocity.toml`',
  meaning: 'Each line of `[servers]` is a server.',
  settings: {
    discoveryVelocity: {
      env: 'DISCOVERY_VELOCITY',
      file: 'discovery.velocity',
      kind: path,
      meaning: 'velocity.toml of a Velocity proxy, whose servers are watched',
    },
  },
  start: ({ discoveryVelocity }, context) => readProxyFile(discoveryVelocity, context, parseServers),
})
