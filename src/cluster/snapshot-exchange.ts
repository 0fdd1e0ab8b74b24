import type { ServerSnapshot } from '../game/snapshot.ts'
import type { Clock } from '../util/clock.ts'
import { parseJson } from '../util/json.ts'
import type { Log } from '../util/log.ts'
import { BatchQueue } from './batch-queue.ts'
import { requireReplies, type StateConnection } from './connection.ts'
import type { IconStore } from './icon-store.ts'
import type { StateKeys } from './keys.ts'
import type { Membership } from './membership.ts'
import { createSnapshotCodec, type DecodedSnapshot, withIcon } from './snapshot-codec.ts'
import type { StreamEntry } from './stream-reader.ts'

/** The order of the snapshots of one server: first by epoch, then by number. */
export interface SnapshotVersion {
  /** That of the members when the snapshot was written: only one of them writes a server. */
  readonly epoch: number
  /** Number of snapshots that the writer had published before. */
  readonly number: number
}

/** Exchanges snapshots through the shared state: every replica, also the writer, applies them in the order of the stream. */
export interface SnapshotExchange {
  /** Writes a snapshot soon. If that is not possible, it is applied here only. */
  publish(key: string, snapshot: ServerSnapshot): void
  /** Posts an entry with a list of keys of servers. Never rejects. */
  post(kind: 'wanted' | 'declined', serverKeys: readonly string[]): Promise<void>
  /** Drops what is to be written: this replica is no longer a member. */
  clear(): void
  /**
   * Reads the stored snapshots of these servers.
   * @returns the position of the stream that the newest of them may have
   * @throws StateUnavailable
   */
  load(serverKeys: readonly string[]): Promise<number>
  /** Applies an entry with snapshots. */
  receive(entry: StreamEntry): void
  /** Applies snapshots of this replica that have not come back in time. */
  applyLate(): void
  /** Number of parts of the shared state that were ignored because they are not valid. */
  invalid(): number
  /** Drops state of removed icons; to be called from time to time. */
  prune(): void
}

export interface SnapshotExchangeOptions {
  readonly connection: StateConnection
  readonly keys: StateKeys
  readonly membership: () => Pick<Membership, 'name' | 'epoch' | 'check'> | undefined
  /** The last position of the stream that was read here. */
  readonly position: () => number
  readonly icons: IconStore
  /** Milliseconds after which a snapshot that was written, but has not been read, is applied. */
  readonly lateMs: number
  /** Milliseconds for which stored snapshots are of use. */
  readonly expiryMs: number
  readonly clock: Clock
  readonly log: Log
  /** The newest snapshot of a server; undefined if no server with this key is watched. */
  readonly find: (key: string) => ServerSnapshot | undefined
  /** Whether a snapshot is to be written again that was rejected: the server is still polled here, and nothing newer is known. */
  readonly isCurrent: (key: string, snapshot: ServerSnapshot) => boolean
  /** @param position of the entry; undefined if it was not read from the stream */
  readonly onSnapshot: (key: string, snapshot: ServerSnapshot, version: SnapshotVersion, origin: SnapshotOrigin) => void
}

export interface SnapshotOrigin {
  readonly from: 'stream' | 'stored' | 'here'
  /** The member that has written it. */
  readonly member: string
}

interface Published {
  readonly snapshot: ServerSnapshot
  /** Of the first attempt to write it: it may be written after a newer one. */
  readonly number: number
}

interface Pending {
  readonly key: string
  readonly snapshot: ServerSnapshot
  readonly version: SnapshotVersion
}

/** Maximum number of snapshots or icons read with one command. */
const maxBatch = 64
/** Milliseconds after which rejected snapshots are written again. */
const rejectedMs = 50
const iconExpiryMs = 3_600_000
const iconRefreshMs = iconExpiryMs / 3
/** Milliseconds before a missing icon is requested again. */
const iconRetryMs = 10_000

/** The text of a snapshot: `<number> <key as JSON>\t<JSON>`, stored as `<epoch> <time in ms> <text>`. */
const entryText = /^(\d+) ("[^\t]*")\t/
const storedHeader = /^(\d+) (\d+) /

export function createSnapshotExchange(options: SnapshotExchangeOptions): SnapshotExchange {
  const { connection, keys, icons, clock, log, find, onSnapshot, lateMs, expiryMs } = options
  const codec = createSnapshotCodec(icons, (server, part) => reportInvalid(`${server}: ${part} is not valid`))
  const queue = new BatchQueue<Published>(send, clock)
  /** Batches that were written and have not come back with the stream, by number. */
  const inFlight = new Map<number, { readonly sentAt: number; readonly pending: readonly Pending[] }>()
  let numbers = 0
  let batches = 0
  const storedIcons = new Map<string, number>()
  /** The newest snapshots that were published while their icon was missing. */
  const withoutIcon = new Map<string, Required<DecodedSnapshot> & { readonly apply: (snapshot: ServerSnapshot) => void }>()
  /** Monotonic milliseconds at which icons were requested that are not in the shared state. */
  const absentIcons = new Map<string, number>()
  let isFetching = false
  /** Parts of the shared state that were ignored. */
  let invalid = 0

  function reportInvalid(reason: string): void {
    if (invalid++ > 0) return
    log.warn(`Ignored data in the shared state that is not valid (${reason}). Other programs must use another STATE_PREFIX.`)
  }

  /** Applies snapshots of this replica. */
  function applyHere(pending: readonly Pending[], from: SnapshotOrigin['from']): void {
    const member = options.membership()?.name ?? ''
    for (const { key, snapshot, version } of pending) onSnapshot(key, snapshot, version, { from, member })
  }

  /** Never rejects. */
  async function send(entries: readonly (readonly [key: string, published: Published])[]): Promise<void> {
    const membership = options.membership()
    const epoch = membership?.epoch
    const pending = entries.map(([key, { snapshot, number }]) => ({ key, snapshot, version: { epoch: epoch ?? 0, number } }))
    if (membership === undefined || epoch === undefined || !connection.isConnected) return applyHere(pending, 'here')
    const batch = ++batches
    inFlight.set(batch, { sentAt: clock.now(), pending })
    try {
      if (await sendBatch(pending, batch, { name: membership.name, epoch })) return
      // The members have changed: what is still polled here is written again with the new epoch.
      inFlight.delete(batch)
      membership.check()
      clock.after(rejectedMs, () => {
        for (const { key, snapshot, version } of pending)
          if (options.isCurrent(key, snapshot)) queue.add(key, { snapshot, number: version.number })
      })
    } catch {
      // Reported by the connection.
      if (inFlight.delete(batch)) applyHere(pending, 'here')
    }
  }

  const ownArguments = ({ name, epoch }: { readonly name: string; readonly epoch: number }) => [name, epoch, options.position()]

  async function sendBatch(
    pending: readonly Pending[],
    batch: number,
    member: { readonly name: string; readonly epoch: number },
  ): Promise<boolean> {
    const now = clock.now()
    const texts = pending.flatMap(({ key, snapshot, version }) => [
      key,
      `${version.number} ${JSON.stringify(key)}\t${codec.encode(snapshot, now + connection.roundTripMs / 2)}`,
    ])
    const newIcons = new Map<string, Buffer>()
    for (const { snapshot } of pending) {
      const { favicon } = snapshot.fields
      if (favicon === undefined) continue
      const hash = icons.hashOf(favicon.value)
      if (now - (storedIcons.get(hash) ?? Number.NEGATIVE_INFINITY) > iconRefreshMs) newIcons.set(hash, favicon.value)
    }
    const replies = await connection.run('snapshots', async (redis) => {
      const pipeline = redis.pipeline()
      for (const [hash, icon] of newIcons) pipeline.set(keys.icon(hash), icon, 'PX', iconExpiryMs)
      const { members, state, stream, snapshots } = keys
      pipeline.statePost(members, state, stream, snapshots, ...ownArguments(member), 'snapshots', batch, ...texts)
      return requireReplies(await pipeline.exec())
    })
    for (const hash of newIcons.keys()) storedIcons.set(hash, now)
    return replies.at(-1) !== 0
  }

  /** Decodes the text of a snapshot; undefined if it is not valid, or of a server that is not watched. */
  function decode(text: string, ageMs: number) {
    try {
      const [header, number, json] = entryText.exec(text) ?? []
      if (header === undefined) throw new RangeError('not a snapshot')
      const key = String(parseJson(json ?? ''))
      const before = find(key)
      if (before === undefined) return undefined
      const decoded = codec.decode(text.slice(header.length), clock.now() - ageMs, () => before)
      if (decoded.snapshot.server !== before.server) throw new RangeError('a snapshot of another server')
      return { key, number: Number(number), decoded }
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
        for (const [key, decoded] of batch) {
          // A newer snapshot may have arrived.
          if (withoutIcon.get(key) !== decoded) continue
          withoutIcon.delete(key)
          if (icons.get(decoded.missingIcon.hash) !== undefined) decoded.apply(complete(decoded))
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
    publish: (key, snapshot) => queue.set(key, { snapshot, number: ++numbers }),
    async post(kind, serverKeys) {
      const membership = options.membership()
      const epoch = membership?.epoch
      if (membership === undefined || epoch === undefined || serverKeys.length === 0) return
      const { members, state, stream, snapshots } = keys
      const args = [...ownArguments({ name: membership.name, epoch }), kind, JSON.stringify(serverKeys)]
      try {
        await connection.run('snapshots', (redis) => redis.statePost(members, state, stream, snapshots, ...args))
      } catch {
        // Reported by the connection; repeated while it is needed.
      }
    },
    clear() {
      queue.clear()
      inFlight.clear()
    },
    async load(serverKeys) {
      let last = 0
      for (let start = 0; start < serverKeys.length; start += maxBatch) {
        const batch = serverKeys.slice(start, start + maxBatch)
        const [texts, time, position] = await connection.run('reads', async (redis) => {
          const results = await redis
            .pipeline()
            .hmget(keys.snapshots, ...batch)
            .time()
            .hget(keys.state, 'position')
            .exec()
          return requireReplies(results) as [readonly (string | null)[], readonly [string, string], string | null]
        })
        last = Math.max(last, Number(position))
        const now = Number(time[0]) * 1_000 + Number(time[1]) / 1_000
        const outdated: string[] = []
        const stored = texts.flatMap((text, index) => {
          const [header, epoch, at] = storedHeader.exec(text ?? '') ?? []
          if (text === null || header === undefined) return []
          const ageMs = Math.max(0, now - Number(at)) + connection.roundTripMs / 2
          const found = ageMs < expiryMs ? decode(text.slice(header.length), ageMs) : undefined
          if (ageMs >= expiryMs) outdated.push(batch[index] ?? '')
          return found === undefined ? [] : [{ ...found, epoch: Number(epoch) }]
        })
        if (outdated.length > 0) await connection.run('snapshots', (redis) => redis.hdel(keys.snapshots, ...outdated))
        // Before the snapshots are used, so that each of them is used once; without icons if those cannot be read.
        await fetchIcons(stored.flatMap(({ decoded: { missingIcon } }) => missingIcon?.hash ?? [])).catch(() => {})
        for (const { key, number, decoded, epoch } of stored)
          onSnapshot(key, complete(decoded), { epoch, number }, { from: 'stored', member: '' })
      }
      return last
    },
    receive({ member, data, text, epoch, transitMs }) {
      if (member === options.membership()?.name) {
        const own = inFlight.get(Number(data))
        inFlight.delete(Number(data))
        applyHere(own?.pending ?? [], 'stream')
        return
      }
      for (const line of text.split('\n')) {
        const found = decode(line, transitMs)
        if (found === undefined) continue
        const { key, number, decoded } = found
        const apply = (snapshot: ServerSnapshot) => onSnapshot(key, snapshot, { epoch, number }, { from: 'stream', member })
        withoutIcon.delete(key)
        const { snapshot, missingIcon } = decoded
        apply(snapshot)
        if (missingIcon === undefined || isAbsent(missingIcon.hash)) continue
        withoutIcon.set(key, { snapshot, missingIcon, apply })
        void addIcons()
      }
    },
    applyLate() {
      for (const [batch, { sentAt, pending }] of inFlight) {
        if (clock.now() - sentAt < lateMs) break
        inFlight.delete(batch)
        applyHere(pending, 'here')
      }
    },
    invalid: () => invalid,
    prune() {
      const now = clock.now()
      for (const key of withoutIcon.keys()) if (find(key) === undefined) withoutIcon.delete(key)
      for (const [hash, at] of storedIcons) if (now - at > iconRefreshMs) storedIcons.delete(hash)
      for (const [hash, at] of absentIcons) if (now - at > iconRetryMs) absentIcons.delete(hash)
    },
  }
}
