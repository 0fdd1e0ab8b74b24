import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { haveSameItems } from '../util/same-items.ts'
import { requireReplies, type StateConnection } from './connection.ts'
import type { StateKeys } from './keys.ts'

/** The live replicas. */
export interface Membership {
  /** Ids of the live members, including this one; empty before it has joined and while it rejoins. */
  readonly members: readonly string[]
  /** Token of this member in the shared state; undefined while it is not a member. Changes each time it joins. */
  readonly token: string | undefined
  /** Checks immediately whether it is still a member, for example after a rejected write. */
  check(): void
  /** Leaves, so that other members do not have to wait until its key expires. Never rejects. */
  close(): Promise<void>
}

export interface MembershipOptions {
  readonly connection: StateConnection
  readonly keys: StateKeys
  /** Different for each process. */
  readonly id: string
  /** STATE_HEARTBEAT, milliseconds. */
  readonly heartbeatMs: number
  readonly clock: Clock
  readonly log: Log
  /** Called before each heartbeat. A member joins when the result has resolved. */
  readonly beforeBeat?: () => Promise<void>
  /** Called when the members have changed. */
  readonly onChange: (members: readonly string[]) => void
}

/** A member is dead after this many heartbeat intervals without a heartbeat. Others notice it within two intervals. */
export const expiryHeartbeats = 1.5
/** Time between heartbeats as a fraction of the interval, because one may be late or lost on a busy machine. */
const beatEvery = 0.5
/** Milliseconds after a key's expiry at which the members are read again. */
const afterExpiryMs = 15

/**
 * Renews a key with an expiry in the shared state, and reads the keys of other members. Expiry uses the server's clock: those of replicas may
 * differ. Joining and leaving are published, so that only the death of a member takes the time of its expiry.
 */
export function startMembership(options: MembershipOptions): Membership {
  const { connection, keys, id, heartbeatMs, clock, log, beforeBeat = async () => {}, onChange } = options
  const expiryMs = Math.round(heartbeatMs * expiryHeartbeats)
  const key = keys.member(id)
  let token: string | undefined
  let members: readonly string[] = []
  /** Monotonic milliseconds of the last heartbeat that was accepted. */
  let lastBeat = Number.NEGATIVE_INFINITY
  let nextBeat = 0
  /** After an outage, previous members are kept until this time, because they may not have reconnected yet. */
  let keepMembersUntil = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds of the first failure since the last successful turn; undefined if there was none. */
  let failedAt: number | undefined
  let running: Promise<void> | undefined
  let isDue = false
  let isClosed = false
  let cancel = () => {}

  function setMembers(next: readonly string[]): void {
    if (haveSameItems(members, next)) return
    members = next
    onChange(next)
  }

  /** The server has lost the key before it expired. All members may have lost theirs, and join again. */
  function lostKey(): void {
    token = undefined
    keepMembersUntil = clock.now() + expiryMs
    log.warn('The shared state has lost the key of this replica, which joins again: was it flushed, or does it evict keys?')
  }

  /**
   * The key has expired. After an outage of the shared state nothing changes: all members continued to poll. Otherwise this
   * process was suspended, and other members have taken over its servers.
   */
  function expired(): void {
    token = undefined
    if (failedAt !== undefined && failedAt <= lastBeat + expiryMs) return
    const seconds = Math.round((clock.now() - lastBeat) / 1000)
    log.warn(`This replica sent no heartbeat for ${seconds} s and lost its servers to other replicas; it rejoins now.`)
    setMembers([])
  }

  async function join(redis: Redis): Promise<void> {
    const next = randomUUID()
    const sentAt = clock.now()
    const joining = redis.multi().set(key, next, 'PX', expiryMs).sadd(keys.members, id)
    requireReplies(await joining.publish(keys.channel, keys.membersMessage).exec())
    token = next
    lastBeat = sentAt
  }

  /** As one operation, which fails as a whole: on a read-only replica, an expired key can be checked but not replaced. */
  async function beat(): Promise<void> {
    const isPrepared = beforeBeat()
    const sentAt = clock.now()
    await connection.run('heartbeats', async (redis) => {
      if (token !== undefined) {
        const isAccepted = (await redis.stateBeat(key, keys.members, token, id, expiryMs)) === 1
        if (isAccepted) lastBeat = sentAt
        else if (failedAt === undefined && clock.now() < lastBeat + expiryMs) lostKey()
        else expired()
      }
      if (token === undefined) {
        await isPrepared
        await join(redis)
      }
      nextBeat = sentAt + beatEvery * heartbeatMs
      await redis.publish(keys.channel, keys.pulseMessage)
    })
    if (connection.isSubscribed && sentAt - connection.lastMessageAt > 2 * heartbeatMs) connection.resubscribe()
  }

  /** @returns milliseconds until the first key of another member expires */
  async function readMembers(): Promise<number> {
    const ids = [...new Set([id, ...(await connection.run('reads', (redis) => redis.smembers(keys.members)))])]
    const replies = await connection.run('reads', (redis) => {
      const pipeline = redis.pipeline()
      for (const one of ids) pipeline.pttl(keys.member(one))
      return pipeline.exec().then(requireReplies)
    })
    const expiries = new Map(ids.map((one, index) => [one, Number(replies[index])]))
    if ((expiries.get(id) ?? 0) < 0 && token !== undefined && clock.now() < lastBeat + expiryMs) {
      lostKey()
      await beat()
    }
    const living = ids.filter((one) => (expiries.get(one) ?? -2) > 0 || one === id)
    const dead = ids.filter((one) => !living.includes(one))
    // A member that was only late adds itself again with its next heartbeat.
    if (dead.length > 0) await connection.run('heartbeats', (redis) => redis.srem(keys.members, ...dead))
    const isKeeping = clock.now() < keepMembersUntil
    setMembers([...new Set([...living, id, ...(isKeeping ? members : [])])].sort())
    return Math.min(...living.filter((one) => one !== id).map((one) => expiries.get(one) ?? 0), heartbeatMs)
  }

  /** @returns milliseconds until the next turn */
  async function turn(): Promise<number> {
    if (token === undefined || clock.now() >= nextBeat) await beat()
    if (failedAt !== undefined) keepMembersUntil = clock.now() + expiryMs
    failedAt = undefined
    const expiry = await readMembers()
    const untilKept = keepMembersUntil > clock.now() ? keepMembersUntil - clock.now() : Number.POSITIVE_INFINITY
    return Math.min(nextBeat - clock.now(), expiry, untilKept) + afterExpiryMs
  }

  async function run(): Promise<void> {
    while (isDue && !isClosed) {
      isDue = false
      cancel()
      const startedAt = clock.now()
      let wait = heartbeatMs / 4
      try {
        wait = await turn()
      } catch {
        // Reported by the connection. The failure starts when the command was sent, not at its timeout.
        failedAt = Math.min(failedAt ?? startedAt, startedAt)
      }
      if (!isClosed) cancel = clock.after(Math.max(0, Math.min(wait, heartbeatMs)), start)
    }
    running = undefined
  }

  function start(): void {
    isDue = true
    running ??= run()
  }

  connection.onFailure(() => {
    failedAt ??= clock.now()
  })
  connection.onReady(start)

  return {
    get members() {
      return members
    },
    get token() {
      return token
    },
    check() {
      nextBeat = 0
      start()
    },
    async close() {
      isClosed = true
      cancel()
      await running
      const current = token
      if (current === undefined) return
      token = undefined
      try {
        await connection.run('heartbeats', (redis) => redis.stateLeave(key, keys.members, current, id))
        await connection.run('heartbeats', (redis) => redis.publish(keys.channel, keys.membersMessage))
      } catch {
        // Its key expires.
      }
    },
  }
}
