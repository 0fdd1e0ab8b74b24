import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from '../../settings/kinds/index.ts'
import { createFileLists } from '../file-lists.ts'
import { defineProvider } from '../provider.ts'

/** The folder next to the config file, or in the working directory. */
const defaultFolder = (configFile: string | undefined): string =>
  configFile === undefined ? 'servers.d' : join(dirname(configFile), 'servers.d')

export const folder = defineProvider({
  name: 'folder',
  title: 'a folder of YAML files',
  meaning:
    'Each file contains one server, or a list of servers, with the keys of an entry of `servers`. A single server without a name is named after its file.',
  settings: {
    discoveryFolder: {
      env: 'DISCOVERY_FOLDER',
      file: 'discovery.folder',
      kind: text,
      otherwise: 'servers.d next to the config file, if it exists',
      meaning: 'folder of YAML files, each with one server or a list of servers',
    },
  },
  isFound: (configFile) => existsSync(defaultFolder(configFile)),
  start({ discoveryFolder }, context) {
    const path = discoveryFolder ?? defaultFolder(context.configFile)
    return createFileLists({
      ...context,
      patterns: [join(path, '*.yaml'), join(path, '*.yml')],
      createParser: () => (text, name) => ({ servers: context.parseServers(text, name), refused: [] }),
    })
  },
})
