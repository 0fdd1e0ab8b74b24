import { isDeepStrictEqual } from 'node:util'
import { serverName, text } from '../settings/kinds/index.ts'
import type { GivenValues, SettingTable } from '../settings/setting.ts'
import type { ServerAddress } from '../util/address.ts'
import { proxyAddress, proxyCredentials } from './proxy-kinds.ts'
import type { SettingNames } from './setting-names.ts'
import type { sources } from './sources/index.ts'
import type { SourceDescriptor } from './sources/source.ts'

type Descriptor = (typeof sources)[number]
type SettingsOf<D> = D extends SourceDescriptor<string, infer S> ? S : never

/**
 * The configured settings of each source. They may be incomplete: a source is on if all its required settings are known, and the
 * missing ones may be found in the server's directory.
 */
export type GivenSources = { readonly [D in Descriptor as D['name']]?: Partial<SettingsOf<D>> }

/** The settings of one game server that do not belong to a source. */
export const serverSettings = {
  name: { env: 'MC_NAME', file: 'name', kind: serverName, default: 'Server', meaning: 'name of the game server' },
  group: {
    env: 'MC_GROUP',
    file: 'group',
    kind: text,
    meaning: 'group of the server: a heading on the status page, and a label for Prometheus',
  },
  via: {
    env: 'MC_VIA',
    file: 'via',
    kind: proxyAddress,
    meaning: 'proxy through which the server is reached over TCP: socks5://host:port or http://host:port',
  },
  viaCredentials: {
    env: 'MC_VIA_CREDENTIALS',
    file: 'viaCredentials',
    kind: proxyCredentials,
    secret: true,
    needs: 'via',
    meaning: 'user name and password that the proxy requires, as user:password',
  },
} as const satisfies SettingTable

/** The configuration of one game server. */
export interface ServerSettings extends GivenValues<typeof serverSettings> {
  readonly name: string
  readonly sources: GivenSources
  /** Absent if it was configured by environment variables. */
  readonly settingNames?: SettingNames
  /** It is the built-in demo server, and must be labelled as such wherever it is shown. */
  readonly demo?: true
}

/** The configured address of a server; undefined if it is read from the server's directory. */
export const addressOf = ({ sources }: Pick<ServerSettings, 'sources'>): ServerAddress | undefined => sources.status?.address

/** Whether two settings are about the same server, whose history, players and state continue when they change. */
export const isSameServer = (a: Pick<ServerSettings, 'sources'>, b: Pick<ServerSettings, 'sources'>): boolean =>
  isDeepStrictEqual(addressOf(a), addressOf(b)) && a.sources.directory?.path === b.sources.directory?.path

export interface PollSettings {
  /** Milliseconds between two polls of one server. */
  readonly interval: number
  /** Milliseconds that one poll may take, including the directory, name resolution and all sources. */
  readonly timeout: number
  /** Milliseconds after which a reading is stale. */
  readonly staleAfter: number
}

/** The minimum and default of `staleAfter`: neither a lost poll nor one that takes until its timeout makes a value stale. */
export const minStaleAfter = ({ interval, timeout }: Pick<PollSettings, 'interval' | 'timeout'>): number =>
  Math.max(3 * interval, interval + timeout)

/** @param from the name under which `staleAfter` is set */
export const findShortStaleAfter = (
  { interval, timeout, staleAfter }: { readonly [K in keyof PollSettings]: PollSettings[K] | undefined },
  from: string,
): readonly string[] => {
  if (interval === undefined || timeout === undefined || staleAfter === undefined) return []
  const min = minStaleAfter({ interval, timeout })
  if (staleAfter >= min) return []
  return [
    `${from} is shorter than POLL_INTERVAL and POLL_TIMEOUT allow (${staleAfter} ms); expected at least ${min} ms: 3 poll intervals, and one poll interval and its timeout`,
  ]
}
