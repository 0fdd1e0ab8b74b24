import type { ServerSettings } from '../game/server-settings.ts'
import { serverName } from '../settings/kinds/index.ts'
import { quoted } from '../settings/read.ts'
import { formatHostPort, parseServerAddress, type ServerAddress } from '../util/address.ts'
import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'
import { createPauses } from '../util/pauses.ts'
import { attempt, DiscoveryError, type ParsedList, type ProviderContext } from './provider.ts'

/** A target group of Prometheus' file_sd and http_sd: https://prometheus.io/docs/prometheus/latest/http_sd/ */
interface TargetGroup {
  readonly targets: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/** Labels with the name of the server, by precedence; the last one is that of Tickwarden's own /sd. */
const nameLabels = ['name', 'server', '__meta_tickwarden_name'] as const
/** `__tickwarden_rcon_password` is the setting `rcon.password` of the server. */
export const settingPrefix = '__tickwarden_'
/** Limits the memory that an endless or unrelated list can take. */
const maxTargets = 100_000

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

function toGroup(value: unknown, index: number): TargetGroup {
  const place = `group ${index + 1}`
  if (!isRecord(value)) throw new DiscoveryError(`${place}: expected an object with targets and labels`)
  const targets = value.targets ?? []
  const labels = value.labels ?? {}
  if (!isTextList(targets)) throw new DiscoveryError(`${place}: targets: expected a list of strings, each host:port`)
  if (!isRecord(labels) || Object.values(labels).some((label) => typeof label !== 'string'))
    throw new DiscoveryError(`${place}: labels: expected an object whose values are strings`)
  return { targets, labels: labels as TargetGroup['labels'] }
}

/** The address of the server: from the labels of Tickwarden's own /sd, whose targets may be names, else from the target. */
function addressOf(target: string, labels: TargetGroup['labels']): ServerAddress | undefined {
  const { __meta_tickwarden_edition: edition, __meta_tickwarden_host: host, __meta_tickwarden_port: port } = labels
  if (edition === undefined || host === undefined) return parseServerAddress(target)
  return parseServerAddress(`${edition === 'bedrock' ? 'bedrock://' : ''}${formatHostPort({ host, port: Number(port) })}`)
}

/** A text that differs for groups whose targets would be different servers; faster than JSON. */
function keyOf({ targets, labels }: TargetGroup): string {
  let key = `\0${targets.length}`
  for (const name in labels) key += `\0${name}\0${labels[name]}`
  return key
}

/**
 * Creates a function that parses target groups, in slices. Unchanged targets keep their object, so that only changed targets
 * are parsed again.
 */
export function createTargetGroupReader({ readServer }: Pick<ProviderContext, 'readServer'>) {
  /** The settings of a server that has only a name and an address. */
  const plain = readServer(new Map(Object.entries({ name: 'plain', address: 'plain.test' })), 'target')
  let previous = new Map<string, ServerSettings | DiscoveryError>()

  function toServer(target: string, { targets, labels }: TargetGroup): ServerSettings {
    const address = addressOf(target, labels)
    if (address === undefined) throw new DiscoveryError(`target ${quoted(target)}: expected host:port or bedrock://host:port`)
    const place = formatHostPort(address)
    const named = nameLabels.map((label) => labels[label]).find((name) => name !== undefined && name !== '')
    const name = named === undefined ? place : targets.length === 1 ? named : `${named} ${place}`
    const settings = Object.entries(labels).filter(([label]) => label.startsWith(settingPrefix))
    const plainName = serverName.parse(name)
    const group = (labels.group || labels.__meta_tickwarden_group)?.trim()
    // Reading every possible setting takes far longer, and most targets have none.
    if (settings.length === 0 && plainName !== undefined)
      return { ...plain, name: plainName, ...(group && { group }), sources: { ...plain.sources, status: { address } } }
    const values = new Map([
      ['name', name],
      ['address', `${address.edition === 'bedrock' ? 'bedrock://' : ''}${place}`],
      ...(group ? [['group', group] as const] : []),
      ...settings.map(([label, value]) => [label.slice(settingPrefix.length).replaceAll('_', '.'), value] as const),
    ])
    return readServer(values, `target ${quoted(target)}`)
  }

  /**
   * @param groups parsed from JSON or YAML
   * @throws DiscoveryError if they are not target groups; single targets that are not valid are ignored
   */
  return async (groups: unknown): Promise<ParsedList> => {
    if (!Array.isArray(groups)) throw new DiscoveryError('expected a list of target groups: [{"targets": ["host:port"]}]')
    const next = new Map<string, ServerSettings | DiscoveryError>()
    const servers: ServerSettings[] = []
    const refused: string[] = []
    const all = groups.map(toGroup)
    const count = all.reduce((sum, { targets }) => sum + targets.length, 0)
    if (count > maxTargets) throw new DiscoveryError(`it has ${count} targets, more than ${maxTargets}`)
    const pauses = createPauses()
    for (const group of all) {
      const groupKey = keyOf(group)
      for (const target of group.targets) {
        if (pauses.isDue()) await pauses.take()
        const key = target + groupKey
        const made = next.get(key) ?? previous.get(key) ?? attempt(() => toServer(target, group))
        next.set(key, made)
        if (made instanceof DiscoveryError) refused.push(made.message)
        else servers.push(made)
      }
    }
    previous = next
    return { servers, refused }
  }
}

/**
 * Parses the JSON of a list.
 * @throws DiscoveryError
 */
export function parseList(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new DiscoveryError(text.trim() === '' ? 'it is empty' : `it is ${(error as SyntaxError).message}`)
  }
}
