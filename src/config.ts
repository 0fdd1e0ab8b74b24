import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Given, readConfigFile, serverKeys } from './config/file.ts'
import { parseDuration } from './config/kinds.ts'
import { type Setting, type SettingName, type SettingValues, settings } from './config/settings.ts'
import type { PartialSettings, PollSettings, ServerSettings } from './game/server.ts'

export type { Schedule, ScriptName } from './config/kinds.ts'

/** Everything the service can be told, parsed and typed. Durations are milliseconds, paths absolute. */
export interface Config {
  readonly host: string
  readonly port: number
  /** Empty: the demo server is started and watched. */
  readonly servers: readonly ServerSettings[]
  readonly poll: PollSettings
  /** Name that the demo server is watched under. */
  readonly demoName: string
  /** The settings that have no place of their own above. */
  readonly values: SettingValues
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
  readonly flags?: Readonly<Record<string, string | undefined>>
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The config file; default TICKWARDEN_CONFIG, then tickwarden.yaml in this folder if there is one. */
  readonly file?: string
}

/** The flag of a setting: `MC_SERVER` is `--mc-server`; a secret is only read from a file: `--mc-rcon-password-file`. */
export const flagOf = ({ env, secret }: Pick<Setting<unknown>, 'env' | 'secret'>): string =>
  `--${env.toLowerCase().replaceAll('_', '-')}${secret ? '-file' : ''}`

const names = Object.keys(settings) as readonly SettingName[]
const isServerSetting = (name: SettingName): name is keyof typeof serverKeys => name in serverKeys

function readSecret(path: string, from: string, problems: string[]): Given | undefined {
  try {
    return { from: `${from} (${path})`, text: readFileSync(path, 'utf8').trim() }
  } catch (error) {
    problems.push(
      `${from} is "${path}", which cannot be read (${(error as NodeJS.ErrnoException).code}); expected a file with the secret`,
    )
    return undefined
  }
}

/** The value as the user gave it: flag over environment over file over default; of a secret also from a file that holds it. */
function find(
  name: SettingName,
  input: Required<Omit<ConfigInput, 'file'>>,
  file: ReadonlyMap<string, Given>,
  problems: string[],
) {
  const setting: Setting<unknown> = settings[name]
  for (const [given, from] of [
    [input.flags, (env: string) => `--${env.toLowerCase().replaceAll('_', '-')}`],
    [input.env, (env: string) => env],
  ] as const) {
    const text = given[setting.env]
    if (text !== undefined && text !== '') return { from: from(setting.env), text }
    const fileSetting = `${setting.env}_FILE`
    const path = setting.secret && given[fileSetting]
    if (path) return readSecret(path, from(fileSetting), problems)
  }
  const key = isServerSetting(name) ? serverKeys[name] : setting.file
  if (key === undefined) return undefined
  const inFile = file.get(key)
  const secretFile = setting.secret ? file.get(`${key}File`) : undefined
  if (inFile === undefined && secretFile !== undefined) return readSecret(secretFile.text, secretFile.from, problems)
  return inFile
}

function parse(name: SettingName, given: Given | undefined, problems: string[]): unknown {
  const setting: Setting<unknown> = settings[name]
  const text = given?.text ?? setting.default
  if (text === undefined) return undefined
  const value = setting.kind.parse(text)
  if (value === undefined) {
    const shown = setting.secret ? 'has a value that does not fit (not shown)' : `is ${JSON.stringify(text)}`
    problems.push(`${given?.from ?? setting.env} ${shown}; expected ${setting.kind.expected}`)
  }
  return value
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** One server from its settings; `place` names it in messages. Undefined where nothing says what to watch. */
function toServer(values: Partial<SettingValues>, place: string, problems: string[]): ServerSettings | undefined {
  const { server, name, rcon, rconPassword, management, managementSecret, managementCa, managementFingerprint, query } = values
  const directory = values.directory === undefined ? undefined : resolve(values.directory)
  const problem = (text: string) => problems.push(`${place}${text}`)
  if (rcon && rconPassword === undefined && directory === undefined)
    problem('MC_RCON is set without MC_RCON_PASSWORD (or MC_RCON_PASSWORD_FILE)')
  if (rcon === undefined && rconPassword !== undefined && server === undefined && directory === undefined)
    problem('MC_RCON_PASSWORD is set without MC_RCON or MC_SERVER')
  if (management !== undefined && managementSecret === undefined && directory === undefined) {
    problem('MC_MANAGEMENT is set without MC_MANAGEMENT_SECRET (or MC_MANAGEMENT_SECRET_FILE)')
  }
  if (managementCa !== undefined && !existsSync(managementCa))
    problem(`MC_MANAGEMENT_CA is "${managementCa}"; expected a PEM file that exists`)
  if (directory !== undefined && !isFolder(directory))
    problem(`MC_DIRECTORY is "${directory}"; expected a folder that exists, the one with server.properties`)
  if (server === undefined && directory === undefined) {
    if (rcon ?? management ?? query) problem('there is no MC_SERVER (address) to go with the other settings')
    return undefined
  }
  // With a directory, its properties tell the port.
  const rconAddress =
    rcon ?? (rconPassword !== undefined && server && directory === undefined ? { host: server.host, port: 25575 } : undefined)
  const managementParts = {
    ...(management !== undefined && { url: management }),
    ...(managementSecret !== undefined && { secret: managementSecret }),
    ...(managementCa !== undefined && { caFile: resolve(managementCa) }),
    ...(managementFingerprint !== undefined && { fingerprint: managementFingerprint }),
  }
  const partial: PartialSettings = {
    ...(rcon && rconPassword === undefined && { rcon }),
    ...(rconAddress === undefined && rconPassword !== undefined && { rconPassword }),
    ...((management === undefined || managementSecret === undefined) &&
      Object.keys(managementParts).length > 0 && { management: managementParts }),
  }
  return {
    name: name ?? settings.name.default ?? 'Server',
    ...(server && { address: server }),
    ...(rconAddress && rconPassword !== undefined && { rcon: { address: rconAddress, password: rconPassword } }),
    ...(management !== undefined &&
      managementSecret !== undefined && {
        management: { ...managementParts, url: management, secret: managementSecret },
      }),
    ...(query && { query }),
    ...(directory !== undefined && { directory, ...(Object.keys(partial).length > 0 && { partial }) }),
  }
}

/**
 * Every setting from flags, environment, config file and defaults.
 * @throws ConfigError that names every wrong setting at once, never a secret's value
 */
export function loadConfig({ flags = {}, env = process.env, file }: ConfigInput = {}): Config {
  const problems: string[] = []
  const path = file ?? env.TICKWARDEN_CONFIG
  const contents = readConfigFile(path ?? 'tickwarden.yaml', path !== undefined, problems)
  const input = { flags, env }

  // What the environment and the flags say of a server is said of the first one.
  const [first = new Map<string, Given>(), ...others] = contents.servers
  const values = Object.fromEntries(
    names.map((name) => [
      name,
      parse(name, find(name, input, isServerSetting(name) ? first : contents.values, problems), problems),
    ]),
  ) as SettingValues
  const fromFile = others.map((entry, index) => {
    const serverNames = names.filter(isServerSetting)
    const own = serverNames.map((name) => [name, parse(name, find(name, { flags: {}, env: {} }, entry, problems), problems)])
    const place = `servers[${index + 1}]: `
    if (!entry.has('name')) problems.push(`${place}has no name; every server but the first needs one of its own`)
    const server = toServer(Object.fromEntries(own), place, problems)
    if (server === undefined) problems.push(`${place}has no address and no directory`)
    return server
  })
  const primary = toServer(values, contents.servers.length > 0 ? 'servers[0]: ' : '', problems)
  if (primary === undefined && contents.servers.length > 0) problems.push('servers[0]: has no address and no directory')
  const servers = [primary, ...fromFile].filter((server) => server !== undefined)
  const seen = new Set<string>()
  for (const { name } of servers) {
    if (seen.has(name)) problems.push(`two servers have the name "${name}"; every server needs one of its own`)
    if (name.includes('/')) problems.push(`the server name "${name}" has a slash, which the paths of the API cannot carry`)
    seen.add(name)
  }

  const interval = values.pollInterval ?? 0
  const staleAfter = values.staleAfter ?? 3 * interval
  if (staleAfter < interval)
    problems.push(`STALE_AFTER is shorter than POLL_INTERVAL (${interval} ms); expected at least one poll interval`)
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    host: values.host ?? '127.0.0.1',
    port: values.port ?? 8080,
    servers,
    demoName: values.name ?? 'Server',
    poll: { interval, timeout: values.pollTimeout ?? parseDuration('3s') ?? 0, staleAfter },
    values,
  }
}
