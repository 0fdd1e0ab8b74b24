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
  /** By what they were made of: many groups may have the same targets or labels, by an alias. */
  const made = new Map<Tree | undefined, unknown>()
  const once = (given: Tree | undefined, make: (given: Tree | undefined) => unknown) => {
    if (!made.has(given)) made.set(given, make(given))
    return made.get(given)
  }
  return tree.map((group) =>
    isMap(group) ? { targets: once(group.get('targets'), toTargets), labels: once(group.get('labels'), toLabels) } : group,
  )
}

const orEmpty = (value: Tree): Tree => value ?? ''

// Prometheus takes numbers and booleans of YAML, such as `shard: 1`, as texts, as they are here; those of JSON it refuses.
const toTargets = (targets: Tree | undefined) => (isList(targets) ? targets.map(orEmpty) : targets)
const toLabels = (labels: Tree | undefined) =>
  isMap(labels) ? Object.fromEntries([...labels].map(([name, value]) => [name, orEmpty(value)])) : labels

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
    return createFileLists({
      ...context,
      patterns,
      createParser() {
        const read = createTargetGroupReader(context)
        return (text, name) => read(/\.json$/i.test(name) ? parseList(text) : parseYaml(text, name))
      },
    })
  },
})
