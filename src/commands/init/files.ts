import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { type Document, parseDocument, stringify, YAMLMap } from 'yaml'
import { settings, settingsOfServer, slices } from '../../config/settings.ts'
import { formatHostPort, type HostPort, parseServerAddress } from '../../util/address.ts'
import { packageRoot } from '../../util/package.ts'
import { UsageError } from '../../util/usage-error.ts'
import type { PlannedServer } from './find-servers.ts'
import { groupsOf, pathsOf } from './readable.ts'

/** A file to write. */
export interface NewFile {
  readonly name: string
  readonly text: string
  /** Only the user may read it. */
  readonly isSecret?: true
  /** Mounted into a container, whose user has another ID: the folder keeps the other users of this machine out instead. */
  readonly isMounted?: true
}

export type Extra = 'compose' | 'systemd' | 'prometheus'

export interface FileOptions {
  readonly listen: HostPort
  readonly extras: ReadonlySet<Extra>
  /** The text of `.env`. */
  readonly existingEnv: string
}

/** A value for `.env`, as both Node.js and Compose read it; undefined if no quotes fit. */
function quote(value: string): string | undefined {
  // Node.js drops carriage returns, and a line that is replaced later must be all of the value.
  if (/[\r\n]/.test(value)) return undefined
  if (/^[\w./:@%+,-]+$/.test(value)) return value
  if (!value.includes("'") && !value.endsWith('\\')) return `'${value}'`
  // Compose replaces variables and escape sequences in these.
  return /["$\\]/.test(value) ? undefined : `"${value}"`
}

const envLine = /^\s*(?:export\s+)?([A-Z_]+)\s*=/

/** The lines of an `.env` file with secrets added or replaced, also those that name a file. One that cannot be quoted is left out. */
function envText(existing: string, values: Readonly<Record<string, string>>): string {
  const kept = existing.split('\n').filter((line) => !((envLine.exec(line)?.[1] ?? '').replace(/_FILE$/, '') in values))
  const lines = Object.entries(values).flatMap(([name, value]) => {
    const quoted = quote(value)
    return quoted === undefined ? [] : [`${name}=${quoted}`]
  })
  return [kept.join('\n').trimEnd(), ...lines, ''].join('\n').trimStart()
}

/** Splits the settings of a server into those of the file, by key such as `rcon.address`, and secrets, by environment name. */
function split({ name, settings: given }: PlannedServer) {
  const keys: Record<string, string> = { name }
  const secrets: Record<string, string> = {}
  for (const { env, file = '', secret, kind } of settingsOfServer) {
    const [value, path] = [given[env], given[`${env}_FILE`]]
    if (env !== 'MC_NAME' && value !== undefined)
      (secret ? secrets : keys)[secret ? env : file] = kind.isLocal ? resolve(value) : value
    if (secret && path !== undefined) keys[`${file}File`] = resolve(path)
  }
  return { keys, secrets }
}

/** Keys with dots as sections: `rcon: { address: ... }`. */
function nest(keys: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const tree: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(keys)) {
    const [section = '', rest] = key.split('.')
    tree[section] = rest === undefined ? value : { ...(tree[section] as object), [rest]: value }
  }
  return tree
}

const optional = [slices.poll.interval, settings.historyDir, settings.pageTitle] as const

/** A setting as a comment, to be used by removing the `#`. */
function commented({ file, meaning, default: value = './history' }: { file: string; meaning: string; default?: string }): string {
  const [section, key] = file.split('.')
  return `# ${meaning}:\n# ${section}: { ${key}: ${value} }`
}

/** The name of a secret's file, without the number of its server. */
const fileNameOf = (env: string): string => env.toLowerCase().replaceAll('_', '-')
const fileNames: ReadonlySet<string> = new Set(settingsOfServer.flatMap(({ env, secret }) => (secret ? [fileNameOf(env)] : [])))

/** Whether a file in the folder of the secrets has a name as the files written there: others may be used by something else. */
export const isSecretFile = (name: string): boolean => fileNames.has(/^(.*)-\d{1,6}$/.exec(name)?.[1] ?? '')

/** `tickwarden.yaml`, and the files of its secrets: the environment is only about the first server. */
function configFiles(servers: readonly PlannedServer[], { listen, existingEnv, extras }: FileOptions): readonly NewFile[] {
  const files: NewFile[] = []
  let isSecretInEnv = false
  const entries = servers.map((server, index) => {
    const { keys, secrets } = split(server)
    if (index === 0 && Object.keys(secrets).length > 0) {
      const text = envText(existingEnv, secrets)
      if (text !== '' || existingEnv !== '') files.push({ name: '.env', text, isSecret: true })
    }
    const names = Object.entries(secrets).flatMap(([env, secret]) => {
      if (index === 0 && quote(secret) !== undefined) {
        isSecretInEnv = true
        return []
      }
      const file = `${fileNameOf(env)}-${index + 1}`
      files.push({
        name: `secrets/${file}`,
        text: `${secret}\n`,
        isSecret: true,
        ...(extras.has('compose') && { isMounted: true }),
      })
      return [[`${settingsOfServer.find((one) => one.env === env)?.file}File`, resolve('secrets', file)] as const]
    })
    return nest({ ...keys, ...Object.fromEntries(names) })
  })
  const text = `# The settings of Tickwarden. After a change: tickwarden check --config tickwarden.yaml
# docs/settings.md lists all of them.${isSecretInEnv ? ' Secrets of the first server are in .env.' : ''}

# Address of the page, the API and the metrics. With 0.0.0.0, other machines can connect.
listen: ${stringify(formatHostPort(listen)).trim()}

${optional.map(commented).join('\n\n')}

# The servers to watch. The first one is the primary one of the API.
${stringify({ servers: entries }, { lineWidth: 0 })}`
  return [{ name: 'tickwarden.yaml', text }, ...files]
}

/** An installed package has no Dockerfile, which the service of compose.yaml is built from. */
export const canBeComposed = (): boolean => existsSync(join(packageRoot, 'Dockerfile'))

const readShipped = (path: string): string => {
  try {
    return readFileSync(join(packageRoot, path), 'utf8')
  } catch (error) {
    throw new UsageError(`${path} is not part of this installation (${(error as Error).message}); use a clone of the repository`)
  }
}

/** A shipped file, with another comment at its top. */
function readDocument(path: string, comment: string): Document {
  const document: Document = parseDocument(readShipped(path).replace(/^(?:#.*\n)+/, ''))
  document.commentBefore = ` ${comment}`
  return document
}

const isOnThisMachine = ({ settings }: PlannedServer): boolean =>
  settings.MC_SERVER === undefined || /^(localhost|127\.|::1$)/.test(parseServerAddress(settings.MC_SERVER)?.host ?? '')

/** A `$` as it is, not as the start of a variable. */
const escapeDollar = (text: string): string => text.replaceAll('$', '$$$$')

/** A volume with the same path in the container. Only the long form can have a colon in its paths. */
function volumeOf(path: string): unknown {
  const escaped = escapeDollar(path)
  return path.includes(':') ? { type: 'bind', source: escaped, target: escaped, read_only: true } : `${escaped}:${escaped}:ro`
}

/** The service `tickwarden` of the shipped compose.yaml, for this folder. */
function composeText(servers: readonly PlannedServer[], { host, port }: HostPort, secretFiles: readonly string[]): string {
  readShipped('Dockerfile')
  const document = readDocument(
    'compose.yaml',
    'Tickwarden in a container, with the settings of tickwarden.yaml: docker compose up',
  )
  const service = ['services', 'tickwarden']
  const only = (path: readonly string[], names: readonly string[]) => {
    const map = document.getIn(path)
    if (map instanceof YAMLMap) map.items = map.items.filter(({ key }) => names.includes(String(key)))
  }
  only(['services'], ['tickwarden'])
  only(['volumes'], ['data', 'history'])
  const set = (key: string, value: unknown) => document.setIn([...service, ...key.split('/')], value)
  set('build', escapeDollar(packageRoot))
  // The paths of tickwarden.yaml are the same in the container.
  const own = ['tickwarden.yaml', ...secretFiles].map((name) => resolve(name))
  const mounted = new Set([...own, ...servers.flatMap(pathsOf)])
  for (const path of ['/data', '/history'])
    if (mounted.has(path))
      throw new UsageError(
        `${path} is a volume of the container: name the server by a link, such as ln -s ${path} /srv/minecraft`,
      )
  set('volumes', [...[...mounted].map(volumeOf), 'data:/data', 'history:/history'])
  const groups = groupsOf(servers)
  if (groups.length > 0) set('group_add', groups)
  set('environment/TICKWARDEN_CONFIG', escapeDollar(resolve('tickwarden.yaml')))
  set('working_dir', '/data')
  if (servers.some(isOnThisMachine)) {
    // In a network of its own, 127.0.0.1 would be the container.
    set('network_mode', 'host')
    for (const key of ['ports', 'extra_hosts']) document.deleteIn([...service, key])
    set('environment/HOST', host)
    set('environment/PORT', String(port))
  } else set('ports', [`${formatHostPort({ host, port })}:8080`])
  return document.toString({ lineWidth: 0 })
}

/** The shipped unit, for this folder and user. */
function unitText(servers: readonly PlannedServer[]): string {
  const folder = resolve('.')
  const escaped = (path: string) => path.replaceAll('%', '%%')
  const paths = [folder, packageRoot, process.execPath, ...servers.flatMap(pathsOf)]
  const targets = paths.map((path) => (existsSync(path) ? realpathSync(path) : path))
  const inHome = [...paths, ...targets].some((path) => /^\/(home|root|run\/user)\//.test(`${path}/`))
  const groups = groupsOf(servers).join(' ')
  const replaced: Readonly<Record<string, string>> = {
    Documentation: `file:${escaped(encodeURI(packageRoot))}/README.md`,
    ExecStart: [process.execPath, '--v8-pool-size=1', join(packageRoot, 'dist/src/main.js')]
      .map((word) => (/\s/.test(word) ? `"${escaped(word)}"` : escaped(word)))
      .join(' '),
    WorkingDirectory: escaped(folder),
    // The secrets in this folder can only be read by the user who made them. Root has no more rights than others in the unit.
    DynamicUser: `no\nUser=${userInfo().username}${groups && `\nSupplementaryGroups=${groups}`}`,
    ...(inHome && { ProtectHome: 'read-only' }),
  }
  const lines = readShipped('examples/tickwarden.service').split('\n')
  // Up to the first section is about the shipped paths.
  const body = lines.slice(lines.indexOf('[Unit]')).flatMap((line) => {
    const [, key = ''] = /^(\w+)=/.exec(line) ?? []
    if (key === 'ConfigurationDirectory') return []
    return replaced[key] === undefined ? [line] : [`${key}=${replaced[key]}`]
  })
  return [`# Copy it to /etc/systemd/system, then: systemctl enable --now tickwarden`, ...body].join('\n')
}

/** The shipped configuration of Prometheus, for a service and rules on this machine. */
function prometheusText({ host, port }: HostPort): string {
  const about = 'Scrapes Tickwarden and evaluates its rules. For a Prometheus that runs already, copy the job.'
  const document = readDocument('grafana/prometheus/prometheus.yaml', about)
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  document.deleteIn(['alerting'])
  document.setIn(['rule_files', 0], join(packageRoot, 'grafana/alerts/*.rules.yaml'))
  const target = formatHostPort({ host: reached, port })
  document.setIn(['scrape_configs', 0, 'static_configs', 0, 'targets', 0], target)
  return document.toString({ lineWidth: 0 })
}

/** Every file of a setup; the first one is `tickwarden.yaml`. @throws UsageError if a text is not shipped */
export function filesFor(servers: readonly PlannedServer[], options: FileOptions): readonly NewFile[] {
  const { listen, extras } = options
  const files = configFiles(servers, options)
  const secrets = files.flatMap(({ name, isMounted }) => (isMounted ? [name] : []))
  return [
    ...files,
    ...(extras.has('compose') ? [{ name: 'compose.yaml', text: composeText(servers, listen, secrets) }] : []),
    ...(extras.has('systemd') ? [{ name: 'tickwarden.service', text: unitText(servers) }] : []),
    ...(extras.has('prometheus') ? [{ name: 'prometheus.yaml', text: prometheusText(listen) }] : []),
  ]
}
