import { basename } from 'node:path'
import type { FleetChange } from '../game/fleet.ts'
import type { ServerSettings } from '../game/server-settings.ts'
import { secretsOf } from '../secrets/secrets-of.ts'
import { checked } from '../settings/setting.ts'
import { joinFirst } from '../util/join-first.ts'
import type { Log } from '../util/log.ts'
import { describeSlowWork, measureWork } from '../util/slow-work.ts'
import { createMaskedProvider } from './masked-provider.ts'
import { type ListOfProvider, mergeLists } from './merge.ts'
import type { Provider, ProviderContext } from './provider.ts'
import { activeProviders } from './settings.ts'
import { statusOf } from './status.ts'

/** The error with its place. Errors of the config file and of a folder start with the name of the file. */
export function withPlace(place: string, error: string): string {
  const file = basename(place)
  return error.startsWith(file) ? place + error.slice(file.length) : `${place}: ${error}`
}

export interface DiscoveryOptions extends Omit<ProviderContext, 'changed' | 'measure'> {
  /** Values of the settings of all providers. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly log: Log
}

/** Describes a change for the log: `added a, b; removed c`. */
export const describeChange = ({ added, changed, removed }: FleetChange): string =>
  [['added', added] as const, ['changed', changed] as const, ['removed', removed] as const]
    .flatMap(([verb, names]) => (names.length === 0 ? [] : [`${verb} ${joinFirst(names, ', ')}`]))
    .join('; ')

const keyOf = ({ provider, list }: ListOfProvider): string => `${provider} ${list.place}`

/** Starts the active providers: the servers of all of them. The caller must close the result. */
export function createDiscovery({ settings, log, ...given }: DiscoveryOptions) {
  const listeners = new Set<() => void>()
  let merged: readonly ListOfProvider[] | undefined
  let version = 0
  /** The last logged problem of each list, so that it is logged once. */
  const logged = new Map<string, string>()

  /** Lists whose reading was slow, so that it is logged once. */
  const slow = new Set<string>()
  const measure = <T>(place: string, read: () => T): T =>
    measureWork('discovery', read, (took) => {
      if (slow.has(place)) return
      slow.add(place)
      log.warn({ list: place, took }, describeSlowWork(`${place}: reading it`, took))
    })

  const providers = activeProviders(settings, given.configFile).map((descriptor) => {
    const own = Object.fromEntries(Object.keys(descriptor.settings).map((key) => [key, settings[key]]))
    const provider: Provider = descriptor.start(checked(own), { ...given, changed, measure })
    return { name: descriptor.name, provider: createMaskedProvider(provider, secretsOf(descriptor.settings, own)) }
  })

  const lists = (): readonly ListOfProvider[] => {
    merged ??= mergeLists(providers.flatMap(({ name, provider }) => provider.lists().map((list) => ({ provider: name, list }))))
    return merged
  }

  function report(given: ListOfProvider): void {
    const { provider, list } = given
    const { place, error, readAt, refused } = list
    const key = keyOf(given)
    const kept = readAt === undefined ? 'its servers are unknown' : 'its previous servers are still watched'
    const problem =
      error !== undefined
        ? `${withPlace(place, error)}; ${kept}`
        : refused.length > 0
          ? `${place}: entries were ignored: ${joinFirst(refused, '; ')}`
          : undefined
    const before = logged.get(key)
    if (problem === before) return
    if (problem === undefined) {
      logged.delete(key)
      log.info({ provider, list: place }, `${place}: read again without errors`)
    } else {
      logged.set(key, problem)
      log.warn({ provider, list: place }, problem)
    }
  }

  function changed(): void {
    merged = undefined
    version++
    for (const given of lists()) report(given)
    const currentKeys = new Set(lists().map(keyOf))
    const places = new Set(lists().map(({ list }) => list.place))
    for (const key of logged.keys()) if (!currentKeys.has(key)) logged.delete(key)
    for (const place of slow) if (!places.has(place)) slow.delete(place)
    for (const listener of listeners) {
      try {
        listener()
      } catch (error) {
        // The lists are still read, and the next change may succeed.
        log.error({ err: error }, 'The change of the watched servers could not be applied completely')
      }
    }
  }

  return {
    /** All servers in order, with unique names. */
    servers: (): readonly ServerSettings[] => lists().flatMap(({ list }) => list.servers),
    /** Calls the listener after each change of the servers or the status; the function returned unsubscribes. */
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    status: () => lists().map(statusOf),
    /** Changes with each change of the status. */
    get version() {
      return version
    },
    /** Resolves when each list has been read once, successfully or not. Never rejects. */
    firstRead: Promise.all(providers.map(({ provider }) => provider.firstRead)).then(() => {}),
    /** Reads every list now. Never rejects. */
    async reload() {
      const before = new Map(logged)
      await Promise.all(providers.map(({ provider }) => provider.reload()))
      // What is still wrong has been logged before, but not since this request.
      for (const given of lists()) {
        const problem = logged.get(keyOf(given))
        if (problem !== undefined && problem === before.get(keyOf(given)))
          log.warn({ provider: given.provider, list: given.list.place }, problem)
      }
    },
    close() {
      for (const { provider } of providers) provider.close()
    },
  }
}
