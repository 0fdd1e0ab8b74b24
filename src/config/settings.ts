import { discoverySettings } from '../discovery/settings.ts'
import { serverSettings } from '../game/server.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import type { Setting, SliceOf, ValuesOf } from './setting.ts'
import { clients } from './settings/clients.ts'
import { cluster } from './settings/cluster.ts'
import { data, runs } from './settings/data.ts'
import { metrics } from './settings/metrics.ts'
import { history, live, page, pictures } from './settings/page.ts'
import { poll } from './settings/poll.ts'
import { updateScripts } from './settings/scripts.ts'
import { http, listen, log } from './settings/service.ts'

/** The settings of the service by the part that uses them: each part receives its own slice of the configuration. */
export const slices = {
  listen,
  poll,
  discovery: discoverySettings,
  data,
  runs,
  scripts: updateScripts,
  metrics,
  history,
  live,
  pictures,
  page,
  cluster,
  clients,
  http,
  log,
} as const
export type Slices = { readonly [S in keyof typeof slices]: SliceOf<(typeof slices)[S]> }

/** The settings of the service itself. */
export const settings = {
  ...listen,
  ...poll,
  ...discoverySettings,
  ...data,
  ...runs,
  ...updateScripts,
  ...metrics,
  ...history,
  ...live,
  ...pictures,
  ...page,
  ...cluster,
  ...clients,
  ...http,
  ...log,
} as const
export type SettingName = keyof typeof settings
/** The parsed values; undefined for a setting without a value or with a wrong one. */
export type SettingValues = ValuesOf<typeof settings>

const descriptors: readonly SourceDescriptor[] = sources

/** Every setting of a game server: the general ones, then those of each source. */
export const settingsOfServer: readonly Setting<unknown>[] = [
  ...Object.values(serverSettings),
  ...descriptors.flatMap((source) => Object.values(settingsOf(source))),
]

/** Every setting: the loader, `--help` and the documentation are generated from this list. */
export const allSettings: readonly Setting<unknown>[] = [...settingsOfServer, ...Object.values(settings)]
