import type { ServerSettings } from '../game/server-settings.ts'
import { serverName } from '../settings/kinds/index.ts'
import { quoted } from '../settings/read.ts'
import { formatHostPort, parseServerAddress, type ServerAddress } from '../util/address.ts'
import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'
import { createPauses } from '../util/pauses.ts'
import { attempt, DiscoveryError, maxServers, type ParsedList, type ProviderContext } from './provider.ts'

/** A target group of Prometheus' file_sd and http_sd: https://prometheus.io/docs/prometheus/latest/http_sd/ */
interface TargetGroup {
  readonly targets: readonly string[]
  readonly labels: GroupLabels
}

/** The labels of a group from which its servers are made. */
interface GroupLabels {
  readonly own: Readonly<Record<string, string>>
  /** Other settings by key: `rcon.password`. */
  readonly settings: readonly (readonly [key: string, value: string])[]
  /** Differs for labels from which different servers are made. */
  readonly key: string
}

/** Labels with the name of the server, by precedence; the last one is that of Tickwarden's own /sd. */
const nameLabels = ['name', 'server', '__meta_tickwarden_name'] as const
const addressLabels = ['__meta_tickwarden_edition', '__meta_tickwarden_host', '__meta_tickwarden_port'] as const
const ownLabels: ReadonlySet<string> = new Set([...nameLabels, ...addressLabels, 'group', '__meta_tickwarden_group'])
/** `__tickwarden_rcon_password` is the setting `rcon.password` of the server. */
export const settingPrefix = '__tickwarden_'
/** Limits the memory for what is made of targets and labels. Each target counts with the labels of its group. Characters. */
const maxLength = 64 * 1024 * 1024

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

const isTextEntry = (entry: readonly [string, unknown]): entry is [string, string] => typeof entry[1] === 'string'

function readLabels(given: unknown, place: string): GroupLabels {
  const entries = isRecord(given) ? Object.entries(given) : undefined
  if (!entries?.every(isTextEntry)) throw new DiscoveryError(`${place}: labels: expected an object whose values are strings`)
  const own = entries.filter(([name]) => ownLabels.has(name))
  const settings = entries.flatMap(([name, value]) =>
    name.startsWith(settingPrefix) ? [[name.slice(settingPrefix.length).replaceAll('_', '.'), value] as const] : [],
  )
  return { own: Object.fromEntries(own), settings, key: JSON.stringify([own, settings]) }
}

/**
 * Reads the groups that have targets, in slices. Labels that groups share by an alias of YAML are read once.
 * @throws DiscoveryError
 */
async function readGroups(groups: readonly unknown[]): Promise<readonly TargetGroup[]> {
  const found: TargetGroup[] = []
  const labelsByObject = new Map<unknown, GroupLabels>()
  let length = 0
  const pauses = createPauses()
  for (const [index, group] of groups.entries()) {
    if (pauses.isDue()) await pauses.take()
    const place = `group ${index + 1}`
    if (!isRecord(group)) throw new DiscoveryError(`${place}: expected an object with targets and labels`)
    const targets = group.targets ?? []
    const given = group.labels ?? undefined
    if (!isTextList(targets)) throw new DiscoveryError(`${place}: targets: expected a list of strings, each host:port`)
    const labels = labelsByObject.get(given) ?? readLabels(given ?? {}, place)
    labelsByObject.set(given, labels)
    if (targets.length > 0) found.push({ targets, labels })
    length += targets.reduce((sum, target) => sum + target.length + labels.key.length, 0)
  }
  if (length > maxLength)
    throw new DiscoveryError(`its targets have ${length} characters with the labels of each, more than ${maxLength}`)
  return found
}

const countTargets = (group: unknown): number => (isRecord(group) && Array.isArray(group.targets) ? group.targets.length : 0)

/** The address of the server: from the labels of Tickwarden's own /sd, whose targets may be names, else from the target. */
function addressOf(target: string, labels: GroupLabels['own']): ServerAddress | undefined {
  const { __meta_tickwarden_edition: edition, __meta_tickwarden_host: host, __meta_tickwarden_port: port } = labels
  if (edition === undefined || host === undefined) return parseServerAddress(target)
  return parseServerAddress(`${edition === 'bedrock' ? 'bedrock://' : ''}${formatHostPort({ host, port: Number(port) })}`)
}

/**
 * Creates a function that parses target groups, in slices. Unchanged targets keep their object, so that only changed targets
 * are parsed again.
 */
export function createTargetGroupReader({ readServer }: Pick<ProviderContext, 'readServer'>) {
  /** The settings of a server that has only a name and an address. */
  const plain = readServer(new Map(Object.entries({ name: 'plain', address: 'plain.test' })), 'target')
  let previous = new Map<string, ServerSettings | DiscoveryError>()

  function toServer(target: string, { targets, labels: { own, settings } }: TargetGroup): ServerSettings {
    const address = addressOf(target, own)
    if (address === undefined) throw new DiscoveryError(`target ${quoted(target)}: expected host:port or bedrock://host:port`)
    const place = formatHostPort(address)
    const named = nameLabels.map((label) => own[label]).find((name) => name !== undefined && name !== '')
    const name = named === undefined ? place : targets.length === 1 ? named : `${named} ${place}`
    const plainName = serverName.parse(name)
    const group = (own.group || own.__meta_tickwarden_group)?.trim()
    // Reading every possible setting takes far longer, and most targets have none.
    if (settings.length === 0 && plainName !== undefined)
      return { ...plain, name: plainName, ...(group && { group }), sources: { ...plain.sources, status: { address } } }
    const values = new Map([
      ['name', name],
      ['address', `${address.edition === 'bedrock' ? 'bedrock://' : ''}${place}`],
      ...(group ? [['group', group] as const] : []),
      ...settings,
    ])
    return readServer(values, `target ${quoted(target)}`)
  }

  /**
   * @param groups parsed from JSON or YAML
   * @throws DiscoveryError if they are not target groups; single targets that are not valid are ignored
   */
  return async (groups: unknown): Promise<ParsedList> => {
    if (!Array.isArray(groups)) throw new DiscoveryError('expected a list of target groups: [{"targets": ["host:port"]}]')
    const count = groups.reduce<number>((sum, group) => sum + countTargets(group), 0)
    if (count > maxServers) throw new DiscoveryError(`it has ${count} targets, more than ${maxServers}`)
    const all = await readGroups(groups)
    const next = new Map<string, ServerSettings | DiscoveryError>()
    const servers: ServerSettings[] = []
    const refused: string[] = []
    const pauses = createPauses()
    for (const group of all) {
      const groupKey = `\0${group.targets.length === 1}${group.labels.key}`
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

/** Several times what a list of the most servers has: to parse millions of empty objects holds everything up for many seconds. */
const maxValues = 40 * maxServers

/**
 * Parses the JSON of a list.
 * @throws DiscoveryError
 */
export function parseList(text: string): unknown {
  try {
    return parseJson(text, maxValues)
  } catch (error) {
    throw new DiscoveryError(text.trim() === '' ? 'it is empty' : `it is ${(error as SyntaxError).message}`)
  }
}
