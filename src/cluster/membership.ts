import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { haveSameItems } from '../util/same-items.ts'
import type { StateConnection } from './connection.ts'
import type { StateKeys } from './keys.ts'

/** The live replicas. */
export interface Membership {
  /** Ids of the live members, including this one, sorted; empty before it has joined and while it rejoins. */
  readonly members: readonly string[]
  /** Its name in the shared state, different each time it joins. */
  readonly name: string
  /** Increases with each change of the members; undefined while this replica is not a member. Writes with an older one are rejected. */
  readonly epoch: number | undefined
  /** Whether a replica has event clients, so that all must record events. */
  readonly isWatched: boolean
  /** Beats immediately: the members may have changed. */
  check(): void
  /** Leaves, so that other members do not have to wait until it expires. Never rejects. */
  close(): Promise<void>
}

export interface MembershipOptions {
  readonly connection: StateConnection
  readonly keys: StateKeys
  /** Different for each process. */
  readonly id: string
  /** STATE_HEARTBEAT, milliseconds. */
  readonly heartbeatMs: number
  /** Milliseconds after which the data of a cluster without members expires. */
  readonly dataExpiryMs: number
  readonly clock: Clock
  readonly log: Log
  /** The last position of the stream that this replica has read. */
  readonly position?: () => number
  /** Milliseconds for which events must still be recorded; 0 if this replica had no event clients for a while. */
  readonly watchedMs?: () => number
  /** Called when the members have changed. */
  readonly onChange: (members: readonly string[]) => void
}

/** A member is dead after this many heartbeat intervals without a heartbeat. Others notice it within two intervals. */
const expiryHeartbeats = 1.5
/** Time between heartbeats as a fraction of the interval, because one may be late or lost on a busy machine. */
const beatEvery = 0.5
/** Milliseconds after the expiry of a member at which the members are read again. */
const afterExpiryMs = 15

/** The id of a member. */
export const idOf = (name: string): string => name.slice(0, name.lastIndexOf('/'))

/**
 * Renews an entry with an expiry in a sorted set. Expiry uses the server's clock: those of replicas may differ. Every change of the members
 * is posted to the stream, so that only the death of a member takes the time of its expiry.
 */
export function startMembership(options: MembershipOptions): Membership {
  const { connection, keys, id, heartbeatMs, dataExpiryMs, clock, log, onChange } = options
  const expiryMs = Math.round(heartbeatMs * expiryHeartbeats)
  let joins = 1
  let isJoining = true
  let names: readonly string[] = []
  let members: readonly string[] = []
  let epoch = 0
  let isWatched = false
  let lastBeat = clock.now()
  let running: Promise<void> | undefined
  let isDue = false
  let isClosed = false
  let cancel = () => {}
  const nameOf = () => `${id}/${joins}`

  function setMembers(next: readonly string[]): void {
    if (haveSameItems(members, next)) return
    members = next
    onChange(next)
  }

  /** @returns milliseconds until the next beat */
  async function beat(): Promise<number> {
    const sentAt = clock.now()
    const args = [
      nameOf(),
      expiryMs,
      epoch,
      options.position?.() ?? 0,
      isJoining ? 1 : 0,
      options.watchedMs?.() ?? 0,
      dataExpiryMs,
    ]
    const [newEpoch, , time, watched, ...entries] = await connection.run('heartbeats', (redis) =>
      redis.stateBeat(keys.members, keys.state, keys.stream, keys.snapshots, ...args, ...names),
    )
    if (Number(newEpoch) === 0) {
      const seconds = Math.round((sentAt - lastBeat) / 1000)
      log.warn(`This replica sent no heartbeat for ${seconds} s and lost its servers to other replicas; it rejoins now.`)
      joins++
      isJoining = true
      names = []
      setMembers([])
      return 0
    }
    isJoining = false
    lastBeat = sentAt
    epoch = Number(newEpoch)
    isWatched = Number(watched) === 1
    names = entries.flatMap((entry, index) => (index % 2 === 0 ? [String(entry)] : []))
    const expiries = entries.flatMap((entry, index) =>
      index % 2 === 1 && entries[index - 1] !== nameOf() ? [Number(entry) - Number(time)] : [],
    )
    setMembers([...new Set(names.map(idOf))].sort())
    return Math.min(beatEvery * heartbeatMs, ...expiries.map((ms) => Math.max(0, ms) + afterExpiryMs))
  }

  async function run(): Promise<void> {
    while (isDue && !isClosed) {
      isDue = false
      cancel()
      let wait = heartbeatMs / 4
      try {
        wait = await beat()
      } catch {
        // Reported by the connection. All members continue to poll while it is away.
      }
      if (!isClosed) cancel = clock.after(wait, start)
    }
    running = undefined
  }

  function start(): void {
    isDue = true
    running ??= run()
  }

  connection.onReady(start)

  return {
    get members() {
      return members
    },
    get name() {
      return nameOf()
    },
    get epoch() {
      return isJoining || isClosed ? undefined : epoch
    },
    get isWatched() {
      return isWatched
    },
    check: start,
    async close() {
      isClosed = true
      cancel()
      await running
      if (isJoining) return
      try {
        const position = options.position?.() ?? 0
        await connection.run('heartbeats', (redis) => redis.stateLeave(keys.members, keys.state, keys.stream, nameOf(), position))
      } catch {
        // It expires.
      }
    },
  }
}
