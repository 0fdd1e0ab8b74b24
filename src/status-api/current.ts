import type { FieldName } from '../game/fields.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { sources } from '../game/sources/index.ts'
import { stateNameOf } from '../game/state-name.ts'
import type { Watcher } from '../game/watcher/index.ts'
import type { Clock } from '../util/clock.ts'
import { unavailable } from '../util/errors.ts'

/** Milliseconds since the server was last reached; undefined if it never was. */
export const ageOf = ({ lastContact }: ServerSnapshot, clock: Clock): number | undefined =>
  lastContact && Math.max(0, clock.now() - lastContact.at)

/** Describes the current state of the server. */
export function describeState(snapshot: ServerSnapshot): string {
  const state = stateNameOf(snapshot)
  if (state === 'upgrade failed') return 'the upgrade of the world has failed'
  const { progress = 0 } = snapshot.fields.worldUpgrade?.value ?? {}
  return state === 'upgrading' ? `upgrading the world, ${Math.floor(progress * 100)} %` : state
}

/**
 * The snapshot for replies, and its age in milliseconds.
 * @param basePath of the request, for the link in the error
 * @throws RequestError SERVER_UNREACHABLE before the first successful poll, and if the last one was too long ago
 */
export function current(
  watcher: Watcher,
  clock: Clock,
  basePath: string,
): { readonly snapshot: ServerSnapshot; readonly age: number } {
  const snapshot = watcher.snapshot()
  const age = ageOf(snapshot, clock)
  if (age !== undefined && snapshot.up !== undefined && !snapshot.isStale) return { snapshot, age }
  const since = age === undefined ? 'has not been reached yet' : `was last reached ${Math.round(age / 1000)} s ago`
  const state = describeState(snapshot)
  const isDown = ['down', 'unknown'].includes(state)
  const why = `${basePath}/api/v1/servers/${encodeURIComponent(watcher.server)}/sources says why`
  throw unavailable(
    'SERVER_UNREACHABLE',
    `The server "${watcher.server}" ${since}${isDown ? '' : ` (${state})`}; ${why}.`,
    watcher.settings.interval / 1000,
  )
}

let shown = { age: 0, text: '0.000' }

/** The value of X-Snapshot-Age in seconds. Cached, because under load many requests arrive in the same millisecond. */
export function ageText(age: number): string {
  const rounded = Math.round(age)
  if (rounded !== shown.age) shown = { age: rounded, text: (rounded / 1000).toFixed(3) }
  return shown.text
}

/** The value of X-Snapshot-Source: the sources that provided any of these fields. */
export function sourcesOf({ fields }: ServerSnapshot, names: readonly FieldName[]): string {
  const used = new Set(names.map((name) => fields[name]?.source))
  return (
    sources
      .map(({ name }) => name)
      .filter((name) => used.has(name))
      .join(', ') || 'none'
  )
}
