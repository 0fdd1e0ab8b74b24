import type { Clock } from '../clock.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Log } from '../log.ts'
import { createBatchQueue } from './batch-queue.ts'
import { requireReplies, type StateConnection } from './connection.ts'
import type { IconStore } from './icon-store.ts'
import type { StateKeys } from './keys.ts'
import { toStateProblem } from './problem.ts'
import { createSnapshotCodec } from './snapshot-codec.ts'

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
  readonly isKnown: (server: string) => boolean
  /** @param storedMs milliseconds since it was stored; 0 for one that has just been published */
  readonly onSnapshot: (snapshot: ServerSnapshot, storedMs: number) => void
  /** Called when the shared state has rejected snapshots because this replica is no longer a member. */
  readonly onRefused: () => void
}

/** Maximum number of snapshots or icons read with one command. */
const maxBatch = 64
const iconExpiryMs = 3_600_000
const iconRefreshMs = iconExpiryMs / 3
/** Milliseconds before a missing icon is requested again. */
const iconRetryMs = 10_000

/** The text of a snapshot: `<member> <expiry in ms>\n<JSON>`. */
const header = /^(\S+) (\d+)\n/

export function createSnapshotExchange(options: SnapshotExchangeOptions): SnapshotExchange {
  const { connection, keys, id, icons, expiryMs, clock, log, isKnown, onSnapshot, onRefused } = options
  const codec = createSnapshotCodec(icons)
  const ownHeader = `${id} ${expiryMs}\n`
  const queue = createBatchQueue<ServerSnapshot>(send)
  const publishedAt = new Map<string, number>()
  const storedIcons = new Map<string, number>()
  /** The newest text of servers whose icon is missing. */
  const withoutIcon = new Map<string, string>()
  const missingIcons = new Set<string>()
  const absentIcons = new Map<string, number>()
  let isFetching = false
  let isMalformedLogged = false

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

  function deliver(text: string, storedMs: number): void {
    const length = header.exec(text)?.[0].length ?? 0
    try {
      const { snapshot, missingIcon } = codec.decode(text.slice(length), clock.now() - storedMs)
      const { server } = snapshot
      if (!isKnown(server)) return
      onSnapshot(snapshot, storedMs)
      withoutIcon.delete(server)
      if (missingIcon === undefined || clock.now() - (absentIcons.get(missingIcon) ?? -iconRetryMs) < iconRetryMs) return
      withoutIcon.set(server, text)
      missingIcons.add(missingIcon)
    } catch (error) {
      if (!isMalformedLogged) {
        const reason = (error as Error).message
        log.warn(`Ignored data in the shared state that is not valid (${reason}). Other programs must use another STATE_PREFIX.`)
      }
      isMalformedLogged = true
    }
  }

  async function fetchIcons(): Promise<void> {
    if (isFetching) return
    isFetching = true
    try {
      while (missingIcons.size > 0) {
        const hashes = [...missingIcons].slice(0, maxBatch)
        for (const hash of hashes) missingIcons.delete(hash)
        const found = await connection.run('reads', (redis) => redis.mgetBuffer(hashes.map(keys.icon)))
        for (const [index, hash] of hashes.entries()) {
          const icon = found[index]
          if (icon == null) absentIcons.set(hash, clock.now())
          else icons.add(hash, icon)
        }
      }
      for (const text of withoutIcon.values()) deliver(text, 0)
    } catch {
      // Retried with the next snapshot whose icon is missing.
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
          for (const [index, text] of (texts as readonly (string | null)[]).entries()) {
            const [, sender, storedFor] = header.exec(text ?? '') ?? []
            const remainingMs = Number(expiries[index])
            if (text === null || sender === undefined || remainingMs <= 0) continue
            deliver(text, Math.max(1, Number(storedFor) - remainingMs))
          }
        } catch {
          // Reported by the connection; everything is loaded again after a reconnection.
          return
        }
      }
      await fetchIcons()
    },
    receive(message) {
      // Ignore this replica's own messages.
      if (message.startsWith(ownHeader) || !header.test(message)) return
      deliver(message, 0)
      if (missingIcons.size > 0) void fetchIcons()
    },
    publishedAt: (server) => publishedAt.get(server) ?? Number.NEGATIVE_INFINITY,
    prune() {
      const now = clock.now()
      for (const server of [...publishedAt.keys(), ...withoutIcon.keys()]) {
        if (isKnown(server)) continue
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
