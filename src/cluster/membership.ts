import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { requireReplies, type StateConnection } from './connection.ts'
import type { StateKeys } from './keys.ts'

/** Which replicas live. */
export interface Membership {
  /** Ids of the living members, this one among them; empty until it has joined, and while it has to join anew. */
  readonly members: readonly string[]
  /** What the shared state knows this member by; undefined while it is not a member. Another one after each time it joins. */
  readonly token: string | undefined
  /** Checks at once whether it is still a member: something it wrote was refused. */
  check(): void
  /** Leaves, so that the others need not wait for its key to expire. Never rejects. */
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
  /** Called when the members are others than before. */
  readonly onChange: (members: readonly string[]) => void
}

/** A member counts as gone after so much of the time without a heartbeat: the rest up to twice the time is for the others to notice. */
export const expiryHeartbeats = 1.5
/** A heartbeat is sent so often, in parts of their time: on a busy machine one may be late, or lost. */
const beatEvery = 0.5
/** Milliseconds after a key's expiry at which the members are read again. */
const afterExpiryMs = 15

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((id, i) => id === b[i])

/**
 * Keeps one key with an expiry in the shared state, and reads which others are there. Times are the server's: clocks of replicas may
 * differ. Joins and leaves are announced, so that a heartbeat is only waited for when a member dies.
 */
export function startMembership({ connection, keys, id, heartbeatMs, clock, log, onChange }: MembershipOptions): Membership {
  const expiryMs = Math.round(heartbeatMs * expiryHeartbeats)
  const key = keys.member(id)
  let token: string | undefined
  let members: readonly string[] = []
  /** Monotonic milliseconds of the last heartbeat that was accepted. */
  let lastBeat = Number.NEGATIVE_INFINITY
  let nextBeat = 0
  /** While the others may not have found back after an outage, those that were members before it still count. */
  let settleUntil = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds at which the shared state began to fail; undefined where it has not since the last turn that succeeded. */
  let failedAt: number | undefined
  let running: Promise<void> | undefined
  let isDue = false
  let isClosed = false
  let cancel = () => {}

  function setMembers(next: readonly string[]): void {
    if (isSame(members, next)) return
    members = next
    onChange(next)
  }

  /**
   * The key is gone. After an outage of the shared state that says nothing: it went on polling, and so did the others. Otherwise this
   * process did not run for a while, and others poll its servers now.
   */
  function expired(): void {
    token = undefined
    if (failedAt !== undefined && failedAt <= lastBeat + expiryMs) return
    const seconds = Math.round((clock.now() - lastBeat) / 1000)
    log.warn(`This replica sent no heartbeat for ${seconds} s, so others have taken its servers over; it joins anew.`)
    setMembers([])
  }

  async function join(): Promise<void> {
    const next = randomUUID()
    const sentAt = clock.now()
    await connection.run('members', (redis) =>
      redis
        .multi()
        .set(key, next, 'PX', expiryMs)
        .sadd(keys.members, id)
        .publish(keys.channel, keys.membersMessage)
        .exec()
        .then(requireReplies),
    )
    token = next
    lastBeat = sentAt
  }

  async function beat(): Promise<void> {
    const sentAt = clock.now()
    const current = token
    if (current !== undefined) {
      const accepted = await connection.run('members', (redis) => redis.stateBeat(key, keys.members, current, id, expiryMs))
      if (accepted === 1) lastBeat = sentAt
      else expired()
    }
    if (token === undefined) await join()
    nextBeat = sentAt + beatEvery * heartbeatMs
    if (connection.isSubscribed && sentAt - connection.lastMessageAt > 2 * heartbeatMs) connection.resubscribe()
    await connection.run('members', (redis) => redis.publish(keys.channel, keys.pulseMessage))
  }

  /** @returns milliseconds until the first key of another member expires */
  async function readMembers(): Promise<number> {
    const ids = await connection.run('members', (redis) => redis.smembers(keys.members))
    const replies = await connection.run('members', (redis) => {
      const pipeline = redis.pipeline()
      for (const one of ids) pipeline.pttl(keys.member(one))
      return pipeline.exec().then(requireReplies)
    })
    const expiries = new Map(ids.map((one, index) => [one, Number(replies[index])]))
    const living = ids.filter((one) => (expiries.get(one) ?? -2) > 0 || one === id)
    const dead = ids.filter((one) => !living.includes(one))
    // A member that is only late puts itself back with its next heartbeat.
    if (dead.length > 0) await connection.run('members', (redis) => redis.srem(keys.members, ...dead))
    const isSettling = clock.now() < settleUntil
    setMembers([...new Set([...living, id, ...(isSettling ? members : [])])].sort())
    return Math.min(...living.filter((one) => one !== id).map((one) => expiries.get(one) ?? 0), heartbeatMs)
  }

  /** @returns milliseconds until the next turn */
  async function turn(): Promise<number> {
    if (token === undefined || clock.now() >= nextBeat) await beat()
    if (failedAt !== undefined) settleUntil = clock.now() + expiryMs
    failedAt = undefined
    const expiry = await readMembers()
    const untilSettled = settleUntil > clock.now() ? settleUntil - clock.now() : Number.POSITIVE_INFINITY
    return Math.min(nextBeat - clock.now(), expiry, untilSettled) + afterExpiryMs
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
        // Reported by the connection. It failed when the command was sent, not when the waiting for its reply was over.
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
        await connection.run('members', (redis) => redis.stateLeave(key, keys.members, current, id))
        await connection.run('members', (redis) => redis.publish(keys.channel, keys.membersMessage))
      } catch {
        // Its key expires.
      }
    },
  }
}
