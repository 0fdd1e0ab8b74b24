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
import { findDeprecated, readSettings, type Texts } from '../settings/read.ts'
import { checked } from '../settings/setting.ts'
import { formatHostPort } from '../util/address.ts'
import { checkVariables, configVariable, withEnvFile } from './environment.ts'
import { type FileContents, findConfigFile, readConfigFile } from './file.ts'
import { readServer, toServer } from './read-server.ts'
import { readEntry } from './server-entry.ts'
import { findConflicts, findServerless, findUnproxied } from './server-problems.ts'
import { type SettingName, type SettingValues, type Slices, settings, slices } from './settings.ts'

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

function toSlices(values: SettingValues): Slices {
  const all = checked<typeof settings>(values)
  const entries = Object.entries(slices).map(([name, table]) => [
    name,
    Object.fromEntries(Object.keys(table).map((key) => [key, all[key as SettingName]])),
  ])
  return Object.fromEntries(entries) as Slices
}

const noFile: FileContents = { settings: new Map(), servers: [], databases: [], notify: undefined, maintenance: [] }

const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** @param from the source of METRICS_LISTEN, for messages */
function findSameListen({ host, port, metricsListen }: SettingValues, from: string | undefined, problems: string[]): void {
  if (host === undefined || port === undefined || port !== metricsListen?.port) return
  if (host !== metricsListen.host && !isAny(host) && !isAny(metricsListen.host)) return
  const shown = formatHostPort(metricsListen)
  problems.push(`${from} is ${shown}, the address of the service (HOST, PORT); expected another port`)
}

/**
 * Reads every setting from flags, environment, config file and defaults.
 * @throws ConfigError that lists every wrong setting, without values of secrets
 */
export function loadConfig({ flags = {}, env: given, file, watches = true }: ConfigInput = {}): Config {
  const problems: string[] = []
  const warnings: string[] = []
  const env = given ?? environment(problems)
  const path = file || env[configVariable] || findConfigFile(problems)
  checkVariables({ env, flags, file: path }, problems, warnings)
  const contents = path === undefined ? noFile : readConfigFile(path, problems)

  const { values, given: set } = readSettings(settings, { flags, env, file: contents?.settings ?? new Map() }, problems)
  // The environment and the flags apply to the first server.
  const [first, ...others] = contents?.servers ?? []
  // The contents of an unreadable file or entry are unknown.
  const isReadable = contents !== undefined && (first !== undefined || contents.servers.length === 0)
  const primary = readServer({ flags, env, file: first?.settings ?? new Map() }, problems)
  if (isReadable) problems.push(...findConflicts(primary, first?.place))
  warnings.push(...findUnproxied(primary), ...findDeprecated(settings, set), ...findDeprecated(serverSettings, primary.own.given))
  const needsServer = first === undefined && !isDiscoveryOn(values, path) && values.dataOnly !== 'true'
  // An entry of the file without a server has been reported already.
  if (isReadable && watches && first === undefined) {
    problems.push(...findServerless(primary, needsServer ? path : undefined))
  }
  const names = isReadable ? [primary.own.values.name] : []
  const fromFile = others.map((entry) => {
    if (entry === undefined) return undefined
    const { name, server } = readEntry(entry, problems, warnings)
    names.push(name)
    return server
  })
  findSameNames(names, problems)
  findSameListen(values, set.get('metricsListen')?.from, problems)

  const statePassword = set.get('statePassword')
  if (statePassword !== undefined && !set.has('stateUrl')) {
    problems.push(`${statePassword.from} is set without ${statePassword.inFile ? settings.stateUrl.file : settings.stateUrl.env}`)
  }

  const { pollInterval: interval, pollTimeout: timeout, staleAfter } = values
  problems.push(...findShortStaleAfter({ interval, timeout, staleAfter }, set.get('staleAfter')?.from ?? ''))
  if (problems.length > 0) throw new ConfigError(problems)
  const { listen, poll, ...rest } = toSlices(values)
  const { stateUrl, stateHeartbeat } = rest.cluster
  // Values must stay valid while other replicas take over the servers of one that died.
  const takeoverMs = stateUrl === undefined ? 0 : poll.pollInterval + 2 * stateHeartbeat
  return {
    ...rest,
    ...(path !== undefined && { file: path }),
    databases: contents?.databases ?? [],
    ...(contents?.notify && { notify: contents.notify }),
    maintenance: contents?.maintenance ?? [],
    host: listen.host,
    port: listen.port,
    servers: [toServer(primary, first !== undefined), ...fromFile].filter((server) => server !== undefined),
    warnings,
    poll: {
      interval: poll.pollInterval,
      timeout: poll.pollTimeout,
      staleAfter:
        poll.staleAfter ?? Math.max(minStaleAfter({ interval: poll.pollInterval, timeout: poll.pollTimeout }), takeoverMs),
    },
  }
}
