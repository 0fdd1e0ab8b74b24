import { addressOf, type ServerSettings } from '../game/server-settings.ts'
import { formatServerAddress } from '../util/address.ts'
import { version } from '../util/package.ts'

const program = `Tickwarden ${version} (Node.js ${process.versions.node})`

/** Maximum number of servers named in the first line; others are counted. */
const maxNamed = 5

function describe({ name, sources, ...server }: ServerSettings): string {
  const address = addressOf({ sources })
  if (server.demo) return address === undefined ? name : formatServerAddress(address)
  return address === undefined ? `${name} (from its directory)` : `${name} (${formatServerAddress(address)})`
}

/**
 * Log lines for the addresses that the service listens on; the first one also names the watched servers.
 * @param isDataOnly whether it never watches any
 * @returns a function that is called with each address, `http://127.0.0.1:8080`
 */
export function startLines(servers: readonly ServerSettings[], isDataOnly = false): (url: string) => string {
  const named = servers.slice(0, maxNamed).map(describe).join(', ')
  const more = servers.length > maxNamed ? ` and ${servers.length - maxNamed} more` : ''
  const isDemo = servers.some(({ demo }) => demo)
  let isFirst = true
  return (url) => {
    if (!isFirst) return `Tickwarden also listens on ${url}`
    isFirst = false
    if (isDemo)
      return `Demo data: ${program} listens on ${url} and watches a built-in demo server (${named}), because no server is configured; set MC_SERVER=host:port to watch your own`
    const watched = servers.length === 0 ? 'no servers yet' : `${named}${more}`
    return `${program} listens on ${url} and ${isDataOnly ? 'serves the databases only' : `watches ${watched}`}`
  }
}
