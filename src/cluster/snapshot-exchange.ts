import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Clock } from '../util/clock.ts'
import type { Log } from '../util/log.ts'
import { createBatchQueue } from './batch-queue.ts'
import { requireReplies, type StateConnection } from './connection.ts'
import type { IconStore } from './icon-store.ts'
import type { StateKeys } from './keys.ts'
import { toStateProblem } from './problem.ts'
import { createSnapshotCodec, type DecodedSnapshot, withIcon } from './snapshot-codec.ts'

/** Exchanges snapshots through the shared state: publishes them to other replicas, and stores them for replicas that start later. */
export interface SnapshotExchange {
  /** Publishes a snapshot soon. It is dropped while the shared state is unavailable. */
  publish(snapshot: ServerSnapshot): void
  /** Reads the stored snapshots of these servers. Never rejects. */
  load(servers: readonly string[]): Promise<void>
  /** Handles a message of the channel. */
  receive(message: string): void
  /** Monotonic milliseconds at which a snapshot of the server was last published from here. */
  publishedAt(server: string): number
  /** Number of parts of the shared state that were ignored because they are not valid. */
  invalid(): number
  /** To be called after a reconnection: stored data may be lost, so everything is stored again. */
  forgetStored(): void
  /** Drops state of removed servers and icons; to be called from time to time. */
  prune(): void
}

export interface SnapshotExchangeOptions {
  readonly connection: StateConnection
  readonly keys: StateKeys
  readonly id: string
  /** Token of this member; undefined while it is not a member. */
  readonly token: () => string | undefined
  readonly icons: IconStore
  /** Milliseconds for which snapshots are stored. */
  readonly expiryMs: number
  readonly clock: Clock
  readonly log: Log
  /** The newest snapshot of a server; undefined if it is not watched. */
  readonly find: (server: string) => ServerSnapshot | undefined
  /** @param storedMs milliseconds since it was stored; 0 for one that has just been published */
  readonly onSnapshot: (snapshot: ServerSnapshot, storedMs: number) => void
  /** Called when the shared state has rejected snapshots because this replica is no longer a member. */
  readonly onRefused: () => void
}

/** Milliseconds for which snapshots are collected, because a command costs as much as several snapshots. */
const collectMs = 10
/** Maximum number of snapshots or icons read with one command. */
const maxBatch = 64
const iconExpiryMs = 3_600_000
const iconRefreshMs = iconExpiryMs / 3
/** Milliseconds before a missing icon is requested again. */
const iconRetryMs = 10_000

/** The text of a snapshot: `<member> <expiry in ms>\n<JSON>`. */
const header = /^(\S+) (\d+)\n/

export function createSnapshotExchange(options: SnapshotExchangeOptions): SnapshotExchange {
  const { connection, keys, id, icons, expiryMs, clock, log, find, onSnapshot, onRefused } = options
  const codec = createSnapshotCodec(icons, (server, part) => reportInvalid(`${server}: ${part} is not valid`))
  const ownHeader = `${id} ${expiryMs}\n`
  const queue = createBatchQueue<ServerSnapshot>(send, (flush) => clock.after(collectMs, flush))
  const publishedAt = new Map<string, number>()
  const storedIcons = new Map<string, number>()
  /** The newest snapshots that were published while their icon was missing. */
  const withoutIcon = new Map<string, Required<DecodedSnapshot>>()
  /** Monotonic milliseconds at which icons were requested that are not in the shared state. */
  const absentIcons = new Map<string, number>()
  let isFetching = false
  /** Parts of the shared state that were ignored. */
  let invalid = 0

  function reportInvalid(reason: string): void {
    if (invalid++ > 0) return
    log.warn(`Ignored data in the shared state that is not valid (${reason}). Other programs must use another STATE_PREFIX.`)
  }

  /** Never rejects. Snapshots that cannot be sent now are dropped: they would be outdated later. */
  async function send(entries: readonly (readonly [server: string, snapshot: ServerSnapshot])[]): Promise<void> {
    const token = options.token()
    if (token === undefined || !connection.isConnected) return
    try {
      await sendBatch(
        entries.map(([, snapshot]) => snapshot),
        token,
      )
    } catch {
      // Reported by the connection.
    }
  }

  async function sendBatch(batch: readonly ServerSnapshot[], token: string): Promise<void> {
    const now = clock.now()
    const texts = batch.map((snapshot) => ownHeader + codec.encode(snapshot, now))
    const newIcons = new Map<string, Buffer>()
    for (const { fields } of batch) {
      if (fields.favicon === undefined) continue
      const hash = icons.hashOf(fields.favicon.value)
      if (now - (storedIcons.get(hash) ?? Number.NEGATIVE_INFINITY) > iconRefreshMs) newIcons.set(hash, fields.favicon.value)
    }
    const member = keys.member(id)
    const snapshotKeys = batch.map(({ server }) => keys.snapshot(server))
    const setPublished = () => {
      for (const { server } of batch) publishedAt.set(server, now)
    }
    const replies = await connection.run('snapshots', async (redis) => {
      const pipeline = redis.pipeline()
      for (const [hash, icon] of newIcons) pipeline.set(keys.icon(hash), icon, 'PX', iconExpiryMs)
      pipeline.statePublish(batch.length + 1, member, ...snapshotKeys, token, expiryMs, keys.channel, ...texts)
      const results = await pipeline.exec()
      // A full server has published them, though not stored.
      if (toStateProblem(results?.at(-1)?.[0]).code === 'full') setPublished()
      return requireReplies(results)
    })
    for (const hash of newIcons.keys()) storedIcons.set(hash, now)
    if (replies.at(-1) === 1) setPublished()
    else onRefused()
  }

  /**
   * Decodes a message or a stored text.
   * @returns undefined if it is not valid, of this replica, or of a server that is not watched
   */
  function decode(text: string, storedMs: number): DecodedSnapshot | undefined {
    try {
      const decoded = codec.decode(text.slice(text.indexOf('\n') + 1), clock.now() - storedMs, find)
      return find(decoded.snapshot.server) === undefined ? undefined : decoded
    } catch (error) {
      reportInvalid((error as Error).message)
      return undefined
    }
  }

  const isAbsent = (hash: string): boolean => clock.now() - (absentIcons.get(hash) ?? -iconRetryMs) < iconRetryMs

  /** Reads icons that are not in the store. @throws StateUnavailable */
  async function fetchIcons(hashes: Iterable<string>): Promise<void> {
    const missing = [...new Set(hashes)].filter((hash) => icons.get(hash) === undefined && !isAbsent(hash))
    for (let start = 0; start < missing.length; start += maxBatch) {
      const batch = missing.slice(start, start + maxBatch)
      const found = await connection.run('reads', (redis) => redis.mgetBuffer(batch.map(keys.icon)))
      for (const [index, hash] of batch.entries()) {
        const icon = found[index]
        // Not the buffer itself, which is a part of the whole reply.
        const isFound = icon != null && icons.hashOf(Buffer.from(icon)) === hash
        if (!isFound) absentIcons.set(hash, clock.now())
        if (icon != null && !isFound) reportInvalid('an icon')
      }
    }
  }

  function complete({ snapshot, missingIcon }: DecodedSnapshot): ServerSnapshot {
    const icon = missingIcon && icons.get(missingIcon.hash)
    return missingIcon === undefined || icon === undefined ? snapshot : withIcon(snapshot, missingIcon, icon)
  }

  /** Adds the icons to published snapshots that lack them. */
  async function addIcons(): Promise<void> {
    if (isFetching) return
    isFetching = true
    try {
      while (withoutIcon.size > 0) {
        const batch = [...withoutIcon].slice(0, maxBatch)
        await fetchIcons(batch.map(([, { missingIcon }]) => missingIcon.hash))
        for (const [server, decoded] of batch) {
          // A newer snapshot may have arrived.
          if (withoutIcon.get(server) !== decoded) continue
          withoutIcon.delete(server)
          if (icons.get(decoded.missingIcon.hash) !== undefined) onSnapshot(complete(decoded), 0)
        }
      }
    } catch {
      // Not kept: they would be used as new ones later. The next snapshot of each server lacks the icon too.
      withoutIcon.clear()
    } finally {
      isFetching = false
    }
  }

  return {
    publish: (snapshot) => queue.set(snapshot.server, snapshot),
    async load(servers) {
      for (let start = 0; start < servers.length; start += maxBatch) {
        const names = servers.slice(start, start + maxBatch).map(keys.snapshot)
        try {
          const [texts, ...expiries] = await connection.run('reads', (redis) => {
            const pipeline = redis.pipeline().mget(names)
            for (const name of names) pipeline.pttl(name)
            return pipeline.exec().then(requireReplies)
          })
          const stored = (texts as readonly (string | null)[]).flatMap((text, index) => {
            const [, sender, storedFor] = header.exec(text ?? '') ?? []
            const remainingMs = Number(expiries[index])
            if (text === null || sender === undefined || remainingMs <= 0) return []
            const storedMs = Math.max(1, Number(storedFor) - remainingMs)
            const decoded = decode(text, storedMs)
            return decoded === undefined ? [] : [{ decoded, storedAt: clock.now() - storedMs }]
          })
          // Before the snapshots are used, so that each of them is used once; without icons if those cannot be read.
          await fetchIcons(stored.flatMap(({ decoded: { missingIcon } }) => missingIcon?.hash ?? [])).catch(() => {})
          for (const { decoded, storedAt } of stored) onSnapshot(complete(decoded), Math.max(1, clock.now() - storedAt))
        } catch {
          // Reported by the connection; everything is loaded again after a reconnection.
          return
        }
      }
    },
    receive(message) {
      // Ignore this replica's own messages.
      if (message.startsWith(ownHeader) || !header.test(message)) return
      const decoded = decode(message, 0)
      if (decoded === undefined) return
      const { snapshot, missingIcon } = decoded
      withoutIcon.delete(snapshot.server)
      onSnapshot(snapshot, 0)
      if (missingIcon === undefined || isAbsent(missingIcon.hash)) return
      withoutIcon.set(snapshot.server, { snapshot, missingIcon })
      void addIcons()
    },
    invalid: () => invalid,
    publishedAt: (server) => publishedAt.get(server) ?? Number.NEGATIVE_INFINITY,
    prune() {
      const now = clock.now()
      for (const server of [...publishedAt.keys(), ...withoutIcon.keys()]) {
        if (find(server) !== undefined) continue
        publishedAt.delete(server)
        withoutIcon.delete(server)
      }
      for (const [hash, at] of storedIcons) if (now - at > iconRefreshMs) storedIcons.delete(hash)
      for (const [hash, at] of absentIcons) if (now - at > iconRetryMs) absentIcons.delete(hash)
    },
    forgetStored() {
      publishedAt.clear()
      storedIcons.clear()
    },
  }
}
