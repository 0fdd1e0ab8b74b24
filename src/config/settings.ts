import { metrics } from '../../exporter/settings.ts'
import { cluster } from '../cluster/settings.ts'
import { updateScripts } from '../data/scripts/settings.ts'
import { data, runs } from '../data/settings.ts'
import { discoverySettings } from '../discovery/settings.ts'
import { poll } from '../game/poll-settings.ts'
import { serverSettings } from '../game/server-settings.ts'
import { sources } from '../game/sources/index.ts'
import { type SourceDescriptor, settingsOf } from '../game/sources/source.ts'
import { history } from '../history/settings.ts'
import { clients } from '../http/clients/client-settings.ts'
import { http, listen, log } from '../http/settings.ts'
import { otlp } from '../otlp/settings.ts'
import type { Setting, SliceOf, ValuesOf } from '../settings/setting.ts'
import { live, page, pictures } from '../web/settings.ts'

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
  otlp,
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
  ...otlp,
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
