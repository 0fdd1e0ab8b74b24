import { DiscoveryError, defineProvider } from '../../src/discovery/provider.ts'
import { list, serverName, text } from '../../src/settings/kinds/index.ts'

/** A provider that is only registered in the list. Without the correct token it fails. */
export const toyProvider = defineProvider({
  name: 'toy',
  title: 'toys',
  meaning: 'Each toy is a server.',
  settings: {
    discoveryToy: { env: 'DISCOVERY_TOY', file: 'discovery.toy', kind: list(serverName), meaning: 'names of toys' },
    discoveryToyToken: { env: 'DISCOVERY_TOY_TOKEN', file: 'discovery.toyToken', kind: text, secret: true, meaning: 'toy token' },
  },
  start({ discoveryToy: names = [], discoveryToyToken: token }, { clock, changed, readServer }) {
    if (token !== 'right') throw new DiscoveryError('wrong token')
    const read = (all: readonly string[]) => ({
      ...{ name: 'toy box', place: 'toy box', refused: [], readAt: clock.wall() },
      servers: all.map((name) =>
        readServer(
          new Map([
            ['name', name],
            ['address', '127.0.0.1:1'],
          ]),
          name,
        ),
      ),
    })
    let toys = read(names)
    return {
      firstRead: Promise.resolve(),
      lists: () => [toys],
      async reload() {
        toys = read([...names, 'reloaded'])
        changed()
      },
      close() {},
    }
  },
})
