import type { ServerAddress } from '../protocol/address.ts'
import { addressOf, type GivenSources, type ServerSettings } from '../server.ts'
import { sources as all } from './index.ts'
import { type ServerFiles, type Source, type SourceContext, type SourceDescriptor, type SourceSet, settingsOf } from './source.ts'

type Values = Readonly<Record<string, unknown>>

/** The list with its sources as equals: each takes its own settings only, which is checked where they are completed. */
const descriptors: readonly SourceDescriptor[] = all

const givenTo = ({ name }: SourceDescriptor, sources: GivenSources): Values =>
  (sources as Readonly<Record<string, Values | undefined>>)[name] ?? {}

const requiredOf = (descriptor: SourceDescriptor) => Object.entries(settingsOf(descriptor)).filter(([, { required }]) => required)

/**
 * The settings of one source, from what was given and what the server's files say; undefined where it is off.
 * @param resolved the settings of the sources before it in the list
 */
async function completeFrom(
  files: ServerFiles,
  descriptor: SourceDescriptor,
  given: Values,
  resolved: GivenSources,
): Promise<Values | undefined> {
  const required = requiredOf(descriptor)
  // What is configured in full is left as it is.
  const isWhole = required.every(([key]) => given[key] !== undefined)
  const found = isWhole ? {} : await descriptor.discover?.(files, given, addressOf({ sources: resolved }))
  const values: Values = { ...found, ...given }
  return required.every(([key]) => values[key] !== undefined) ? values : undefined
}

/** The same without files: what is missing may follow from the server's address. */
function complete(descriptor: SourceDescriptor, given: Values, server: ServerAddress | undefined): Values | undefined {
  const required = requiredOf(descriptor).map(([key, { fallback }]) => [key, given[key] ?? (server && fallback?.(server))])
  return required.every(([, value]) => value !== undefined) ? { ...given, ...Object.fromEntries(required) } : undefined
}

/**
 * The sources that a server's settings switch on. Where its directory is given, `refresh` fills in from it what the settings leave
 * open, and replaces the sources whose settings have changed.
 */
export function createSources(server: ServerSettings, context: SourceContext): SourceSet {
  const address = addressOf(server)
  const own: SourceContext = { ...context, ...(address && { address }) }
  const made = new Map<string, { readonly key: string; readonly source: Source }>()
  const isCompleted = descriptors.some(
    (descriptor) => descriptor.completesOthers && Object.keys(givenTo(descriptor, server.sources)).length > 0,
  )
  let sources: readonly Source[] = []
  let closed = false
  let refreshing = false

  function make(settings: ReadonlyMap<SourceDescriptor, Values>): void {
    for (const descriptor of descriptors) {
      const { name } = descriptor
      const values = settings.get(descriptor)
      const key = JSON.stringify(values)
      const before = made.get(name)
      if (before?.key === key) continue
      before?.source.close()
      made.delete(name)
      if (values !== undefined) made.set(name, { key, source: descriptor.create(values, own) })
    }
    sources = descriptors.flatMap(({ name }) => made.get(name)?.source ?? [])
  }

  function resolve(): ReadonlyMap<SourceDescriptor, Values> {
    const settings = new Map<SourceDescriptor, Values>()
    for (const descriptor of descriptors) {
      const given = givenTo(descriptor, server.sources)
      const values = complete(descriptor, given, isCompleted ? undefined : address)
      if (values !== undefined) settings.set(descriptor, values)
    }
    return settings
  }

  async function resolveFrom(files: ServerFiles): Promise<ReadonlyMap<SourceDescriptor, Values>> {
    const settings = new Map<SourceDescriptor, Values>()
    for (const descriptor of descriptors) {
      const resolved: GivenSources = Object.fromEntries([...settings].map(([{ name }, values]) => [name, values]))
      const values = await completeFrom(files, descriptor, givenTo(descriptor, server.sources), resolved)
      if (values !== undefined) settings.set(descriptor, values)
    }
    return settings
  }

  make(resolve())
  return {
    ...(isCompleted && {
      async refresh() {
        // One at a time: a disk that hangs is waited for once, and the polls go on with what is known.
        if (refreshing) return
        refreshing = true
        try {
          for (const { source } of [...made.values()]) {
            const files = await source.files?.()
            const settings = files && (await resolveFrom(files))
            if (settings && !closed) make(settings)
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
