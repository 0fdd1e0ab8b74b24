import { isAsleep, ongoingWorldUpgrade, type ServerSnapshot } from './snapshot.ts'

export type StateName = 'up' | 'hung' | 'down' | 'asleep' | 'upgrading' | 'upgrade failed' | 'unknown'

/** How a server is, in one word, for everything that shows it. A hung server accepts connections, but does not answer. */
export function stateNameOf(snapshot: ServerSnapshot): StateName {
  const { up, mainThread } = snapshot
  const upgrade = ongoingWorldUpgrade(snapshot)
  if (isAsleep(snapshot)) return 'asleep'
  if (upgrade !== undefined) return upgrade.state === 'failed' ? 'upgrade failed' : 'upgrading'
  if (up === undefined) return 'unknown'
  return !up ? 'down' : mainThread?.responsive === false ? 'hung' : 'up'
}
