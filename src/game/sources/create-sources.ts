import { systemNetwork } from '../network.ts'
import type { ServerAddress } from '../protocol/address.ts'
import { createProxyNetwork } from '../proxy.ts'
import { addressOf, type GivenSources, type ServerSettings } from '../server.ts'
import { sources as all } from './index.ts'
import { type ServerFiles, type Source, type SourceContext, type SourceDescriptor, type SourceSet, settingsOf } from './source.ts'

/** Settings of one source, by name: what was given of them, or all that it requires. */
type Values = Readonly<Record<string, unknown>>

const descriptors: readonly SourceDescriptor[] = all

const givenTo = ({ name }: SourceDescriptor, sources: GivenSources): Values =>
  (sources as Readonly<Record<string, Values | undefined>>)[name] ?? {}

/** Listed once: each probe creates sources. */
const requiredKeys: ReadonlyMap<SourceDescriptor, readonly string[]> = new Map(
  descriptors.map((descriptor) => [
    descriptor,
    Object.entries(settingsOf(descriptor)).flatMap(([key, { required }]) => (required ? [key] : [])),
  ]),
)

const hasAll = (descriptor: SourceDescriptor, values: Values): boolean =>
  requiredKeys.get(descriptor)?.every((key) => values[key] !== undefined) === true

/** What is missing of a source that was configured in part, as it follows from the address of the server. */
function fallbacks(descriptor: SourceDescriptor, given: Values, server: ServerAddress | undefined): Values {
  if (Object.keys(given).length === 0) return {}
  const missing = Object.entries(settingsOf(descriptor)).filter(([key]) => given[key] === undefined)
  return Object.fromEntries(missing.flatMap(([key, { fallback }]) => (server && fallback ? [[key, fallback(server)]] : [])))
}

/** What the files say, without what would not be accepted as a setting either: anybody may have written them. */
function accepted(descriptor: SourceDescriptor, discovered: Values): Values {
  const settings = settingsOf(descriptor)
  const fits = ([key, value]: readonly [string, unknown]): boolean => {
    const kind = settings[key]?.kind
    return kind !== undefined && kind.parse(kind.format?.(value) ?? String(value)) !== undefined
  }
  return Object.fromEntries(Object.entries(discovered).filter(fits))
}

/**
 * The sources that a server's settings switch on. Where its directory is given, `refresh` fills in from it what the settings leave
 * open, and replaces the sources whose settings have changed.
 */
export function createSources(server: ServerSettings, context: SourceContext): SourceSet {
  const address = addressOf(server)
  const { via, viaCredentials } = server
  const proxied = via && createProxyNetwork(via, viaCredentials, context.network ?? systemNetwork)
  const own: SourceContext = { ...context, ...(address && { address }), ...(proxied && { network: proxied }) }
  const hasDirectory = descriptors.some((source) => source.completesOthers && hasAll(source, givenTo(source, server.sources)))
  const made = new Map<SourceDescriptor, { readonly key: string; readonly source: Source }>()
  const list = () => descriptors.flatMap((descriptor) => made.get(descriptor)?.source ?? [])
  let sources: readonly Source[] = []
  let closed = false
  let refreshing = false

  /** Makes the source anew only where its settings have changed. */
  function make(descriptor: SourceDescriptor, values: Values, discovered: readonly string[] = []): void {
    const on = hasAll(descriptor, values)
    const before = made.get(descriptor)
    if (!on && before === undefined) return
    const key = JSON.stringify(values)
    if (on && before?.key === key) return
    before?.source.close()
    made.delete(descriptor)
    if (on) made.set(descriptor, { key, source: descriptor.create(values, { ...own, discovered }) })
  }

  /** @param files what the server's directory holds */
  async function complete(files: ServerFiles): Promise<void> {
    const settings = new Map<SourceDescriptor, Values>()
    let found = address
    for (const descriptor of descriptors) {
      const given = givenTo(descriptor, server.sources)
      // What is configured in full is left as it is.
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
  }

  for (const descriptor of descriptors) {
    const given = givenTo(descriptor, server.sources)
    // A directory says itself where the server's other protocols are.
    make(descriptor, hasDirectory ? given : { ...given, ...fallbacks(descriptor, given, address) })
  }
  sources = list()
  return {
    ...(hasDirectory && {
      async refresh() {
        // One at a time: a disk that hangs is waited for once, and the polls go on with what is known.
        if (refreshing) return
        refreshing = true
        try {
          for (const { source } of [...made.values()]) {
            const files = await source.files?.()
            if (files) await complete(files)
          }
        } catch {
          // The source reads the same files in its poll, and reports in its state what is wrong with them.
        } finally {
          refreshing = false
        }
      },
    }),
    list: () => sources,
    close() {
      closed = true
      for (const { source } of made.values()) source.close()
    },
  }
}
