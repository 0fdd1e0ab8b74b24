import { type Kind, list } from '../../settings/kinds/index.ts'
import { isList, isMap, parseTree, type Tree } from '../../util/yaml.ts'
import { createFileLists } from '../file-lists.ts'
import { DiscoveryError, defineProvider } from '../provider.ts'
import { createTargetGroupReader, parseList } from '../target-groups.ts'

/** Patterns as accepted by Prometheus. */
const filePattern: Kind<string> = {
  example: '/etc/tickwarden/targets/*.json',
  expected: 'a path that ends in .json, .yml or .yaml; its last segment may contain one * for any characters',
  parse: (given) => (/^[^*]*(\*[^/*]*)?\.(json|yml|yaml|JSON|YML|YAML)$/.test(given) ? given : undefined),
}

function parseYaml(text: string, name: string): unknown {
  const problems: string[] = []
  const tree = parseTree(text, name, problems)
  if (tree === undefined) throw new DiscoveryError(problems.join('; '))
  // A file that is being written is empty for a moment; a list without groups is written [].
  if (tree === null) throw new DiscoveryError('it is empty')
  if (!isList(tree)) return tree
  /** Many groups may be the same one, or have the same targets, by an alias. */
  const groups = new Map<Tree, unknown>()
  const lists = new Map<readonly Tree[], readonly Tree[]>()
  return tree.map((group) => {
    if (!groups.has(group)) groups.set(group, toGroup(group, lists))
    return groups.get(group)
  })
}

const orEmpty = (value: Tree): Tree => value ?? ''

/** Prometheus takes numbers and booleans of YAML, such as `shard: 1`, as texts, as they are here; those of JSON it refuses. */
function toGroup(group: Tree, lists: Map<readonly Tree[], readonly Tree[]>): unknown {
  if (!isMap(group)) return group
  const [targets, labels] = [group.get('targets'), group.get('labels')]
  if (isList(targets) && !lists.has(targets)) lists.set(targets, targets.map(orEmpty))
  return {
    targets: isList(targets) ? lists.get(targets) : targets,
    labels: isMap(labels) ? Object.fromEntries([...labels].map(([name, value]) => [name, orEmpty(value)])) : labels,
  }
}

export const fileSd = defineProvider({
  name: 'file_sd',
  title: 'target groups in files, as for file_sd of Prometheus',
  meaning: 'Each target is a server; see below for the labels.',
  settings: {
    discoveryFileSd: {
      env: 'DISCOVERY_FILE_SD',
      file: 'discovery.fileSd',
      kind: list(filePattern),
      meaning: 'JSON or YAML files of target groups; the last segment of a path may contain *',
    },
  },
  start({ discoveryFileSd: patterns = [] }, context) {
    const readers = new Map<string, ReturnType<typeof createTargetGroupReader>>()
    return createFileLists({
      ...context,
      patterns,
      parse(text, path, name) {
        const read = readers.get(path) ?? createTargetGroupReader(context)
        readers.set(path, read)
        return read(/\.json$/i.test(name) ? parseList(text) : parseYaml(text, name))
      },
    })
  },
})
