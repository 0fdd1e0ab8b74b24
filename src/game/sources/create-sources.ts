import { createMask, type Mask } from '../../secrets/mask.ts'
import { secretsOf } from '../../secrets/secrets-of.ts'
import type { ServerAddress } from '../../util/address.ts'
import { systemNetwork } from '../network.ts'
import { createProxyNetwork } from '../proxy.ts'
import { addressOf, type GivenSources, type ServerSettings, serverSettings } from '../server-settings.ts'
import { GuardedSource } from './guarded-source.ts'
import { sources as all } from './index.ts'
import type { SourceName } from './names.ts'
import { type ServerFiles, type Source, type SourceContext, type SourceDescriptor, type SourceSet, settingsOf } from './source.ts'

/** Settings of one source by name, possibly incomplete. */
type Values = Readonly<Record<string, unknown>>

const descriptors: readonly SourceDescriptor[] = all

const nothing: Values = {}

/** Names of secrets in server.properties: `rcon.password`, `management-server-secret`. */
const secretProperty = /password|secret/
/** Maximum number of secrets in server.properties that are hidden: the game has three. */
const maxSecrets = 100

const givenTo = ({ name }: SourceDescriptor, sources: GivenSources): Values =>
  (sources as Readonly<Record<string, Values | undefined>>)[name] ?? nothing

const hasAll = (descriptor: SourceDescriptor, values: Values): boolean =>
  Object.entries(settingsOf(descriptor)).every(([key, { required }]) => !required || values[key] !== undefined)

/** Adds the missing settings of a partly configured source that can be derived from the address of the server. */
function withFallbacks(descriptor: SourceDescriptor, given: Values, server: ServerAddress | undefined): Values {
  if (server === undefined || Object.keys(given).length === 0) return given
  const derived = Object.entries(settingsOf(descriptor)).flatMap(([key, { fallback }]) =>
    fallback && given[key] === undefined ? [[key, fallback(server)] as const] : [],
  )
  return derived.length === 0 ? given : { ...given, ...Object.fromEntries(derived) }
}

/** Removes discovered values that would not be valid settings: the files are not trusted. */
function accepted(descriptor: SourceDescriptor, discovered: Values): Values {
  const settings = settingsOf(descriptor)
  const fits = ([key, value]: readonly [string, unknown]): boolean => {
    const kind = settings[key]?.kind
    return kind !== undefined && kind.parse(kind.format?.(value) ?? String(value)) !== undefined
  }
  return Object.fromEntries(Object.entries(discovered).filter(fits))
}

/** Creates a source, which passes on neither its own secrets nor those of the server. @param found masks those in the server's files */
function createSource(
  descriptor: SourceDescriptor,
  values: Values,
  context: SourceContext,
  server: ServerSettings,
  found?: Mask,
): Source {
  const secrets = [...secretsOf(settingsOf(descriptor), values), ...secretsOf(serverSettings, server)]
  const own = secrets.length === 0 ? undefined : createMask(secrets)
  return new GuardedSource({
    server: server.name,
    name: descriptor.name as SourceName,
    context,
    create: (guarded) => descriptor.create(values, guarded),
    mask: own && found ? (text) => found(own(text)) : (own ?? found),
  })
}

/**
 * Creates the sources that are switched on by a server's settings. If its directory is configured, `refresh` reads missing settings
 * from it, and replaces the sources whose settings have changed.
 */
export function createSources(server: ServerSettings, context: SourceContext): SourceSet {
  const address = addressOf(server)
  const { via, viaCredentials } = server
  const proxied = via && createProxyNetwork(via, viaCredentials, context.network ?? systemNetwork)
  const own: SourceContext = Object.assign({}, context, address && { address }, proxied && { network: proxied })
  const hasDirectory = descriptors.some((source) => source.completesOthers && hasAll(source, givenTo(source, server.sources)))
  return hasDirectory ? createDiscoveringSources(server, own) : new FixedSources(server, own)
}

/** The sources of a server without a directory. */
class FixedSources implements SourceSet {
  readonly #list: readonly Source[]

  constructor(server: ServerSettings, context: SourceContext) {
    const list = descriptors.flatMap((descriptor) => {
      const given = givenTo(descriptor, server.sources)
      if (given === nothing) return []
      const values = withFallbacks(descriptor, given, context.address)
      return hasAll(descriptor, values) ? [createSource(descriptor, values, context, server)] : []
    })
    this.#list = list.slice()
  }

  list(): readonly Source[] {
    return this.#list
  }

  close(): void {
    for (const source of this.#list) source.close()
  }
}

function createDiscoveringSources(server: ServerSettings, context: SourceContext): SourceSet {
  const { address } = context
  const made = new Map<SourceDescriptor, { readonly key: string; readonly source: Source }>()
  const list = () => descriptors.flatMap((descriptor) => made.get(descriptor)?.source ?? [])
  let sources: readonly Source[] = []
  let closed = false
  let refreshing = false
  /** The last text of each kind, so that it is reported once. */
  let [reported, failure] = ['', '']
  /** The secrets in the server's files, and their mask. */
  let secrets = ''
  let maskSecrets: Mask = createMask([])

  /** Creates the source, or replaces it if its settings have changed. */
  function make(descriptor: SourceDescriptor, values: Values, discovered: readonly string[] = []): void {
    const on = hasAll(descriptor, values)
    const before = made.get(descriptor)
    if (!on && before === undefined) return
    const key = JSON.stringify(values)
    if (on && before?.key === key) return
    before?.source.close()
    made.delete(descriptor)
    if (!on) return
    const found: Mask | undefined = descriptor.completesOthers ? (text) => maskSecrets(text) : undefined
    made.set(descriptor, { key, source: createSource(descriptor, values, { ...context, discovered }, server, found) })
  }

  /** Masks the secrets in the files from now on. */
  function hideSecrets({ properties }: ServerFiles): void {
    const found = [...properties].flatMap(([key, value]) => (secretProperty.test(key) ? [value] : [])).slice(0, maxSecrets)
    const key = JSON.stringify(found)
    if (key === secrets) return
    secrets = key
    maskSecrets = createMask(found)
  }

  /** Completes the settings of all sources from the files in the server's directory. */
  async function complete(files: ServerFiles): Promise<void> {
    const settings = new Map<SourceDescriptor, Values>()
    let found = address
    for (const descriptor of descriptors) {
      const given = givenTo(descriptor, server.sources)
      // A completely configured source is not changed.
      const discovered = hasAll(descriptor, given) ? undefined : await descriptor.discover?.(files, given, found)
      const values = { ...accepted(descriptor, { ...discovered }), ...given }
      settings.set(descriptor, values)
      found ??= addressOf({ sources: { [descriptor.name]: values } })
    }
    if (closed) return
    for (const [descriptor, values] of settings) {
      const given = givenTo(descriptor, server.sources)
      make(
        descriptor,
        values,
        Object.keys(values).filter((key) => given[key] === undefined),
      )
    }
    sources = list()
    reportDiscovery(files, settings)
  }

  /** Reports which sources the directory provides, and which property would provide another one. */
  function reportDiscovery({ properties }: ServerFiles, settings: ReadonlyMap<SourceDescriptor, Values>): void {
    const [found, missing]: [string[], string[]] = [[], []]
    for (const [descriptor, values] of settings) {
      if (descriptor.discover === undefined || hasAll(descriptor, givenTo(descriptor, server.sources))) continue
      const source = made.get(descriptor)?.source
      if (hasAll(descriptor, values) && source) found.push(`${descriptor.title} (${source.target})`)
      else missing.push(`${descriptor.title} (${descriptor.whyUndiscovered?.(properties) ?? 'unknown'})`)
    }
    const text = [
      ...(found.length > 0 ? [`found in its directory: ${found.join(', ')}`] : []),
      ...(missing.length > 0 ? [`not found in its directory: ${missing.join(', ')}`] : []),
    ].join('; ')
    if (text !== reported && text !== '') context.onDiscovery?.(text)
    reported = text
  }

  function logFailure(error: unknown): void {
    const { message } = error as Error
    if (closed || message === failure) return
    failure = message
    context.log.error({ server: server.name, err: error }, `${server.name}: cannot use the settings in its directory: ${message}`)
  }

  // The addresses of the other protocols are read from the directory.
  for (const descriptor of descriptors) make(descriptor, givenTo(descriptor, server.sources))
  sources = list()
  return {
    async refresh() {
      // One at a time: if the disk hangs, polls continue with the current settings.
      if (refreshing) return
      refreshing = true
      try {
        for (const { source } of [...made.values()]) {
          // The poll of the source reads the same files and reports the error.
          const files = await source.files?.().catch(() => undefined)
          if (files === undefined) continue
          hideSecrets(files)
          await complete(files)
        }
      } catch (error) {
        logFailure(error)
      } finally {
        refreshing = false
      }
    },
    list: () => sources,
    close() {
      closed = true
      for (const { source } of made.values()) source.close()
    },
  }
}
