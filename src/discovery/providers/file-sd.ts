import { type Kind, list } from '../../settings/kinds/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { parseTree, toPlain } from '../../util/yaml.ts'
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
  const groups = toPlain(tree)
  return Array.isArray(groups) ? groups.map(withTexts) : groups
}

const toText = (value: unknown): unknown =>
  value === null ? '' : typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

/** Prometheus takes numbers and booleans of YAML, such as `shard: 1`, as texts; those of JSON it refuses. */
function withTexts(group: unknown): unknown {
  if (!isRecord(group)) return group
  const { targets, labels } = group
  return {
    ...group,
    ...(Array.isArray(targets) && { targets: targets.map(toText) }),
    ...(isRecord(labels) && { labels: Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, toText(value)])) }),
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
