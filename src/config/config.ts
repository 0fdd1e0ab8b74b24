import type { DatabaseDeclaration } from '../data/databases/declaration.ts'
import { isDiscoveryOn } from '../discovery/settings.ts'
import {
  findShortStaleAfter,
  minStaleAfter,
  type PollSettings,
  type ServerSettings,
  serverSettings,
} from '../game/server-settings.ts'
import type { MaintenanceWindow } from '../maintenance/window.ts'
import type { NotifySettings } from '../notify/settings.ts'
import { findDeprecated, type ReadSettings, readSettings, type Texts } from '../settings/read.ts'
import { checked, type SettingTable } from '../settings/setting.ts'
import { formatHostPort } from '../util/address.ts'
import { checkVariables, configVariable, withEnvFile } from './environment.ts'
import { type FileContents, findConfigFile, readConfigFile, warnOfTextFiles } from './file.ts'
import { readEntry } from './parse-servers.ts'
import { readServer, toServer } from './read-server.ts'
import { findWithoutServer } from './server-names.ts'
import { findConflicts, findServerless, findUnproxied } from './server-problems.ts'
import { type Slices, slices } from './settings.ts'

/** The whole configuration, parsed and typed. Each part of the service receives its own slice. Durations are milliseconds. */
export interface Config extends Omit<Slices, 'listen' | 'poll'> {
  readonly host: string
  readonly port: number
  /** Path of the config file; absent if there is none. */
  readonly file?: string
  /** The servers of the config file and the environment. */
  readonly servers: readonly ServerSettings[]
  readonly poll: PollSettings
  /** The databases of the config file. */
  readonly databases: readonly DatabaseDeclaration[]
  /** Notifications; absent if none are configured. */
  readonly notify?: NotifySettings
  /** Planned maintenance. */
  readonly maintenance: readonly MaintenanceWindow[]
  /** Warnings to log at the start, such as ignored environment variables and settings without effect. */
  readonly warnings: readonly string[]
}

/** The settings are not valid. The message has every mistake, one per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export interface ConfigInput {
  /** From the command line, by the setting's environment name (`MC_RCON_PASSWORD_FILE` for a secret's file), in text form. */
  readonly flags?: Texts
  /** Default: the environment of the process, and `.env` in the working directory. */
  readonly env?: Texts
  /** The config file; default: TICKWARDEN_CONFIG, else tickwarden.yaml or tickwarden.yml in the working directory. */
  readonly file?: string
  /** False for commands that do not watch servers, so that none must be configured; default true. */
  readonly watches?: boolean
}

/** The environment of the process, and `.env` in the working directory; mistakes in it are added to `problems`. */
export const environment = (problems: string[] = []): Texts => withEnvFile(process.env, problems)

/** Reports duplicate names of servers, because names are part of API paths. */
export function findSameNames(names: readonly (string | undefined)[], problems: string[]): void {
  const [seen, repeated] = [new Set<string>(), new Set<string>()]
  for (const name of names) {
    if (name === undefined) continue
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  for (const name of repeated) problems.push(`two servers have the name ${JSON.stringify(name)}; names must be unique`)
}

/** The settings of the service by part, as they were read. */
type ReadSlices = { readonly [S in keyof typeof slices]: ReadSettings<(typeof slices)[S]> }

const perSlice = <T>(make: (table: SettingTable, name: keyof typeof slices) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(slices).map(([name, table]) => [name, make(table, name as keyof typeof slices)]))

const noFile: FileContents = { settings: new Map(), servers: [], databases: [], notify: undefined, maintenance: [] }

/**
 * Reads every setting from flags, environment, config file and defaults, not yet compared with each other; mistakes are added to
 * `problems`.
 */
export function readConfig({ flags = {}, env: given, file }: ConfigInput, problems: string[] = [], warnings: string[] = []) {
  const env = given ?? environment(problems)
  /** Path of the config file; undefined if there is none. */
  const path = file || env[configVariable] || findConfigFile(problems)
  if (path === undefined) warnOfTextFiles(warnings)
  checkVariables(env, Boolean(flags.MC_SERVER || path), problems, warnings)
  /** Undefined if the file cannot be read. */
  const contents = path === undefined ? noFile : readConfigFile(path, problems)
  const places = { flags, env, file: contents?.settings ?? new Map() }
  const read = perSlice((table) => readSettings(table, places, problems)) as unknown as ReadSlices
  // The environment and the flags apply to the first server.
  const primary = readServer({ flags, env, file: contents?.servers[0]?.settings ?? new Map() }, problems)
  return { path, contents, slices: read, primary }
}

const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** Reports METRICS_LISTEN with the address of the service. */
function findSameListen({ listen, metrics }: ReadSlices, problems: string[]): void {
  const { host, port } = listen.values
  const { metricsListen } = metrics.values
  if (host === undefined || port === undefined || port !== metricsListen?.port) return
  if (host !== metricsListen.host && !isAny(host) && !isAny(metricsListen.host)) return
  const from = metrics.given.get('metricsListen')?.from
  const shown = formatHostPort(metricsListen)
  problems.push(`${from} is ${shown}, the address of the service (HOST, PORT); expected another port`)
}

/**
 * Reads every setting from flags, environment, config file and defaults.
 * @throws ConfigError that lists every wrong setting, without values of secrets
 */
export function loadConfig(input: ConfigInput = {}): Config {
  const problems: string[] = []
  const warnings: string[] = []
  const { path, contents, slices: read, primary } = readConfig(input, problems, warnings)
  const [first, ...others] = contents?.servers ?? []
  // The contents of an unreadable file or entry are unknown.
  const isReadable = contents !== undefined && (first !== undefined || contents.servers.length === 0)
  if (isReadable) problems.push(...findConflicts(primary, first?.place))
  warnings.push(...findUnproxied(primary))
  warnings.push(...Object.values(perSlice((table, name) => findDeprecated(table, read[name].given))).flat())
  warnings.push(...findDeprecated(serverSettings, primary.own.given))
  const isElsewhere = isDiscoveryOn(read.discovery.values, path) || read.data.values.dataOnly === 'true'
  // An entry of the file without a server has been reported already.
  if (isReadable && input.watches !== false && first === undefined)
    problems.push(...findServerless(primary, isElsewhere ? undefined : path))
  const entries = others.map((entry) => entry && readEntry(entry, problems, warnings))
  findSameNames([...(isReadable ? [primary.own.values.name] : []), ...entries.map((entry) => entry?.name)], problems)
  findSameListen(read, problems)
  const { given } = read.cluster
  const statePassword = given.get('statePassword')
  if (statePassword !== undefined && !given.has('stateUrl')) {
    const { file, env } = slices.cluster.stateUrl
    problems.push(`${statePassword.from} is set without ${statePassword.inFile ? file : env}`)
  }
  problems.push(...findShortStaleAfter(read.poll.values, read.poll.given.get('staleAfter')?.from ?? ''))
  if (problems.length > 0) throw new ConfigError(problems)
  const servers = [toServer(primary, first !== undefined), ...entries.map((entry) => entry?.server)].filter(
    (server) => server !== undefined,
  )
  // Servers of other lists are not known here.
  if (path !== undefined && contents !== undefined && servers.length > 0 && !isElsewhere)
    warnings.push(...findWithoutServer(servers, { ...contents, path }))
  const { listen, poll, ...rest } = perSlice((_, name) => checked(read[name].values as never)) as unknown as Slices
  const { stateUrl, stateHeartbeat } = rest.cluster
  // Values must stay valid while other replicas take over the servers of one that died.
  const takeoverMs = stateUrl === undefined ? 0 : poll.interval + 2 * stateHeartbeat
  return {
    ...rest,
    ...listen,
    ...(path !== undefined && { file: path }),
    databases: contents?.databases ?? [],
    ...(contents?.notify && { notify: contents.notify }),
    maintenance: contents?.maintenance ?? [],
    servers,
    warnings,
    poll: { ...poll, staleAfter: poll.staleAfter ?? Math.max(minStaleAfter(poll), takeoverMs) },
  }
}
