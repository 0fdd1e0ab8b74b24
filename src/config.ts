import { checkVariables, configVariable, withEnvFile } from './config/environment.ts'
import { type FileContents, findConfigFile, readConfigFile } from './config/file.ts'
import { readSettings, type Texts } from './config/read.ts'
import { findMisfits, findServerless, findUnproxied, readEntry, readServer, toServer } from './config/server.ts'
import { checked } from './config/setting.ts'
import { type SettingName, type SettingValues, type Slices, settings, slices } from './config/settings.ts'
import { isDiscoveryOn } from './discovery/settings.ts'
import { formatHostPort } from './game/protocol/address.ts'
import type { PollSettings, ServerSettings } from './game/server.ts'

/** The whole configuration, parsed and typed. Each part of the service is handed its own slice. Durations are milliseconds. */
export interface Config extends Omit<Slices, 'listen' | 'poll'> {
  readonly host: string
  readonly port: number
  /** The config file that was read; absent: there is none. */
  readonly file?: string
  /** Those of the config file and the environment. */
  readonly servers: readonly ServerSettings[]
  readonly poll: PollSettings
  /** What to log at the start: variables of the environment that are ignored, and settings without effect. */
  readonly warnings: readonly string[]
}

/** The settings are wrong: every mistake, one a line. */
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
  /** The config file; default TICKWARDEN_CONFIG, then tickwarden.yaml or tickwarden.yml in the working directory if there is one. */
  readonly file?: string
  /** False for a command that watches no servers, so that none needs to be configured; default true. */
  readonly watches?: boolean
}

/** Every server has a name of its own: it is part of the paths of the API. */
function findSameNames(names: readonly (string | undefined)[], problems: string[]): void {
  const given = names.filter((name) => name !== undefined)
  for (const name of new Set(given.filter((name, index) => given.indexOf(name) !== index)))
    problems.push(`two servers have the name ${JSON.stringify(name)}; every server needs one of its own`)
}

function toSlices(values: SettingValues): Slices {
  const all = checked<typeof settings>(values)
  const entries = Object.entries(slices).map(([name, table]) => [
    name,
    Object.fromEntries(Object.keys(table).map((key) => [key, all[key as SettingName]])),
  ])
  return Object.fromEntries(entries) as Slices
}

const noFile: FileContents = { settings: new Map(), servers: [] }

const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** @param from where METRICS_LISTEN was set */
function findSameListen({ host, port, metricsListen }: SettingValues, from: string | undefined, problems: string[]): void {
  if (host === undefined || port === undefined || port !== metricsListen?.port) return
  if (host !== metricsListen.host && !isAny(host) && !isAny(metricsListen.host)) return
  const shown = formatHostPort(metricsListen)
  problems.push(`${from} is ${shown}, where the service listens too (HOST, PORT); expected another port`)
}

/**
 * Every setting from flags, environment, config file and defaults.
 * @throws ConfigError that names every wrong setting at once, never a secret's value
 */
export function loadConfig({ flags = {}, env: given, file, watches = true }: ConfigInput = {}): Config {
  const problems: string[] = []
  const warnings: string[] = []
  const env = given ?? withEnvFile(process.env, problems)
  checkVariables(env, problems, warnings)
  const path = file || env[configVariable] || findConfigFile(problems)
  const contents = path === undefined ? noFile : readConfigFile(path, problems)

  const { values, given: set } = readSettings(settings, { flags, env, file: contents?.settings ?? new Map() }, problems)
  // The environment and the flags configure the first server.
  const [first, ...others] = contents?.servers ?? []
  // A file or an entry that could not be read may hold anything.
  const isReadable = contents !== undefined && (first !== undefined || contents.servers.length === 0)
  const primary = readServer({ flags, env, file: first?.settings ?? new Map() }, problems)
  if (isReadable) problems.push(...findMisfits(primary, first?.place))
  warnings.push(...findUnproxied(primary))
  const needsServer = first === undefined && !isDiscoveryOn(values, path)
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

  const { pollInterval: interval, staleAfter } = values
  if (interval !== undefined && staleAfter !== undefined && staleAfter < interval) {
    problems.push(
      `${set.get('staleAfter')?.from} is shorter than POLL_INTERVAL (${interval} ms); expected at least one poll interval`,
    )
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const { listen, poll, ...rest } = toSlices(values)
  const { stateUrl, stateHeartbeat } = rest.cluster
  // While the servers of a replica that has died move to others, the last values of them still count.
  const minStaleAfter = stateUrl === undefined ? 0 : poll.pollInterval + 2 * stateHeartbeat
  return {
    ...rest,
    ...(path !== undefined && { file: path }),
    host: listen.host,
    port: listen.port,
    servers: [toServer(primary, first !== undefined), ...fromFile].filter((server) => server !== undefined),
    warnings,
    poll: {
      interval: poll.pollInterval,
      timeout: poll.pollTimeout,
      staleAfter: poll.staleAfter ?? Math.max(3 * poll.pollInterval, minStaleAfter),
    },
  }
}
