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
import type { Setting, SliceOf } from '../settings/setting.ts'
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

type Union = (typeof slices)[keyof typeof slices]
type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (one: infer I) => void ? I : never

/** The settings of the service itself, by name. */
export const settings = Object.assign({}, ...Object.values(slices)) as Intersection<Union>
export type SettingName = keyof typeof settings

/** Every setting of a game server: the general ones, then those of each source. */
export const settingsOfServer: readonly Setting<unknown>[] = [
  ...Object.values(serverSettings),
  ...sources.flatMap((source: SourceDescriptor) => Object.values(settingsOf(source))),
]

/** Every setting: the loader, `--help` and the documentation are generated from this list. */
export const allSettings: readonly Setting<unknown>[] = [...settingsOfServer, ...Object.values(settings)]
