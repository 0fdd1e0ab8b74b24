import { createFileLists } from '../file-lists.ts'
import { DiscoveryError, defineProvider, type Provider, type ProviderContext, type ServerList } from '../provider.ts'
import { environmentList } from '../status.ts'

/** Without a config file no file is watched: the server of the environment is only read on request, with its secret files. */
function readEnvironment({ readConfig, clock, changed }: ProviderContext): Provider {
  const [name, place] = [environmentList, environmentList]
  const read = (): ServerList => ({ name, place, servers: readConfig(), refused: [], readAt: clock.wall() })
  let list = read()
  return {
    firstRead: Promise.resolve(),
    lists: () => [list],
    async reload() {
      try {
        list = read()
      } catch (error) {
        if (!(error instanceof DiscoveryError)) throw error
        list = { ...list, error: error.message }
      }
      changed()
    },
    close() {},
  }
}

export const configFile = defineProvider({
  name: 'config',
  title: '`servers` of the config file, and the server of the environment',
  meaning: 'Each entry is a server.',
  settings: {},
  isFound: () => true,
  start(_settings, context) {
    const { configFile: path } = context
    if (path === undefined) return readEnvironment(context)
    return createFileLists({
      ...context,
      patterns: [path],
      createParser() {
        let hadText = false
        return (text) => {
          const isEmpty = text.trim() === ''
          // A file that is being written is empty for a moment.
          if (hadText && isEmpty) throw new DiscoveryError('it is empty')
          hadText = !isEmpty
          return { servers: context.readConfig(), refused: [] }
        }
      },
    })
  },
})
