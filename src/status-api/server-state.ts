import { isAsleep, ongoingWorldUpgrade, type ServerSnapshot } from '../game/snapshot.ts'

/** Describes the current state of the server. */
export function describeState(snapshot: ServerSnapshot): string {
  const { up, mainThread } = snapshot
  if (isAsleep(snapshot)) return 'asleep'
  const upgrade = ongoingWorldUpgrade(snapshot)
  if (upgrade?.state === 'running') return `upgrading the world, ${Math.floor((upgrade.progress ?? 0) * 100)} %`
  if (upgrade?.state === 'failed') return 'the upgrade of the world has failed'
  if (up === undefined) return 'unknown'
  if (up === false) return 'down'
  return mainThread?.responsive === false ? 'hung' : 'up'
}
