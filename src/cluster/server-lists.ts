import type { ServerSettings } from '../game/server-settings.ts'
import type { Clock } from '../util/clock.ts'
import { createPauses } from '../util/pauses.ts'
import { requireReplies, type StateConnection } from './connection.ts'
import type { StateKeys } from './keys.ts'
import { toStateProblem } from './problem.ts'
import { fingerprintOf } from './server-fingerprint.ts'
import {
  type AnnouncedList,
  decodeListMessage,
  decodeServerList,
  type EncodedList,
  encodeListMessage,
  encodeServerList,
  type ServerList,
} from './server-list-codec.ts'

/**
 * The servers that each replica lists. Replicas may read different lists, and a server must be polled by one that lists it. Equal lists
 * are stored once, under their digest.
 */
export interface ServerLists {
  /** Whether a member lists a server of this replica. True while that is unknown, as if all lists were equal. */
  has(member: string, server: string): boolean
  /** Sets the servers of this replica, and announces them soon. */
  set(servers: readonly ServerSettings[]): void
  /** Stores the list of this replica, or renews its expiry. Never rejects. */
  announce(): Promise<void>
  /** Reads the lists of other members that have changed. Never rejects. */
  refresh(members: readonly string[]): Promise<void>
  /** Handles a message of the channel. @returns whether it contained the list of a member */
  receive(message: string): boolean
  /** The servers of this replica that other members list differently. */
  differences(): readonly ListDifference[]
  close(): void
}

/** A server of this replica that another member lists with different settings, or does not list. */
export interface ListDifference {
  readonly server: string
  readonly kind: 'settings' | 'missing'
  readonly member: string
}

/** Counts the servers of each kind of difference. */
export function countDifferences(differences: readonly ListDifference[]): Readonly<Record<ListDifference['kind'], number>> {
  const count = (kind: ListDifference['kind']) =>
    new Set(differences.flatMap((difference) => (difference.kind === kind ? [difference.server] : []))).size
  return { settings: count('settings'), missing: count('missing') }
}

export interface ServerListsOptions {
  readonly connection: StateConnection
  readonly keys: StateKeys
  readonly id: string
  readonly heartbeatMs: number
  readonly clock: Clock
  /** Called when a result of `has` or `differences` may have changed. */
  readonly onChange: () => void
}

/** Milliseconds between a change of the list and its announcement, because changes may follow each other quickly. */
const announceDelayMs = 50
/** A stored list expires after this many heartbeat intervals. */
const expiryHeartbeats = 6

export function createServerLists(options: ServerListsOptions): ServerLists {
  const { connection, keys, id, heartbeatMs, clock, onChange } = options
  const expiryMs = expiryHeartbeats * heartbeatMs
  let servers: readonly ServerSettings[] = []
  let own: EncodedList = { text: '', digest: '' }
  let nameHashes: ReadonlyMap<string, string> = new Map()
  /** Monotonic milliseconds at which servers were added. Other members may read the same change slightly later. */
  const addedAt = new Map<string, number>()
  /** Digest of the list of each other member; absent if it is unknown. */
  let digests: ReadonlyMap<string, string> = new Map()
  /** Lists that differ from that of this replica, by digest. */
  let lists: ReadonlyMap<string, ServerList> = new Map()
  let differences: readonly ListDifference[] = []
  let isChanged = false
  let isClosed = false
  let cancelAnnounce = () => {}
  let cancelConfirm = () => {}
  let last: Promise<void> = Promise.resolve()
  let waitingRead: Promise<void> | undefined
  let members: readonly string[] = []

  /** The list of a member, if it is known and not the same as that of this replica. */
  function otherList(member: string): ServerList | undefined {
    const digest = digests.get(member)
    return digest === undefined || digest === own.digest ? undefined : lists.get(digest)
  }

  /** One operation at a time. */
  function enqueue(action: () => Promise<void>): Promise<void> {
    last = last.then(async () => {
      if (isClosed) return
      try {
        await action()
      } catch {
        // Reported by the connection; repeated with the next heartbeat.
      }
    })
    return last
  }

  const announce = () =>
    enqueue(async () => {
      await encode()
      await store()
    })

  async function encode(): Promise<void> {
    if (!isChanged) return
    isChanged = false
    const current = servers
    own = await encodeServerList(current)
    nameHashes = new Map(current.map((server) => [server.name, fingerprintOf(server).name]))
    await compare()
  }

  async function store(): Promise<void> {
    const [pointer, list] = [keys.listOf(id), keys.list(own.digest)]
    await connection.run('lists', async (redis) => {
      const renewal = redis.pipeline().get(pointer).pexpire(list, expiryMs).pexpire(pointer, expiryMs)
      const [before, isStored] = requireReplies(await renewal.exec())
      if (before === own.digest && isStored === 1) return
      const storage = redis.multi().set(list, own.text, 'PX', expiryMs).set(pointer, own.digest, 'PX', expiryMs)
      try {
        requireReplies(await storage.publish(keys.channel, keys.listsMessage).exec())
      } catch (error) {
        if (toStateProblem(error).code !== 'full') throw error
        // A full server still deletes and publishes, though not in a transaction. Without its pointer, the old list is not read again.
        const message = encodeListMessage({ member: id, ...own })
        requireReplies(await redis.pipeline().del(pointer).publish(keys.channel, message).exec())
        throw error
      }
    })
  }

  /** Applies a list that its member could not store, and therefore repeats with each heartbeat. */
  async function apply({ member, digest, text }: AnnouncedList): Promise<void> {
    const isLoaded = digest === own.digest || lists.has(digest)
    if (digests.get(member) === digest && isLoaded) return
    const list = lists.get(digest) ?? (await decodeServerList(text))
    if (list === undefined) return
    digests = new Map(digests).set(member, digest)
    lists = new Map(lists).set(digest, list)
    await compare()
  }

  async function read(): Promise<void> {
    waitingRead = undefined
    const others = members.filter((member) => member !== id)
    const found = others.length === 0 ? [] : await connection.run('reads', (redis) => redis.mget(others.map(keys.listOf)))
    const nextDigests = new Map<string, string>()
    for (const [index, member] of others.entries()) {
      // The server may have lost its data: the list that was read last stays in use until the member announces it again.
      const digest = found[index] ?? digests.get(member)
      if (digest !== undefined) nextDigests.set(member, digest)
    }
    const nextLists = new Map<string, ServerList>()
    for (const digest of new Set(nextDigests.values())) {
      if (digest === own.digest) continue
      const list = lists.get(digest) ?? (await load(digest))
      if (list !== undefined) nextLists.set(digest, list)
    }
    const isSame = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>) =>
      a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
    if (isSame(digests, nextDigests) && isSame(lists, nextLists)) return
    digests = nextDigests
    lists = nextLists
    await compare()
  }

  async function load(digest: string): Promise<ServerList | undefined> {
    const text = await connection.run('reads', (redis) => redis.get(keys.list(digest)))
    return text === null ? undefined : decodeServerList(text)
  }

  async function compare(): Promise<void> {
    const pauses = createPauses()
    const next: ListDifference[] = []
    for (const member of digests.keys()) {
      const list = otherList(member)
      if (list === undefined) continue
      for (const server of servers) {
        if (pauses.isDue()) await pauses.take()
        const { name, settings } = fingerprintOf(server)
        const theirs = list.get(name)
        if (theirs !== settings) next.push({ server: server.name, kind: theirs === undefined ? 'missing' : 'settings', member })
      }
    }
    differences = next
    onChange()
  }

  /** After a heartbeat, the lists of the other members apply to the added servers too. */
  function confirmAdded(): void {
    const now = clock.now()
    for (const [server, at] of addedAt) if (now - at >= heartbeatMs) addedAt.delete(server)
    onChange()
    if (addedAt.size > 0) cancelConfirm = clock.after(heartbeatMs, confirmAdded)
  }

  return {
    has(member, server) {
      if (member === id || addedAt.has(server)) return true
      const [list, name] = [otherList(member), nameHashes.get(server)]
      return list === undefined || name === undefined || list.has(name)
    },
    set(next) {
      const before = new Set(servers.map(({ name }) => name))
      servers = next
      isChanged = true
      const wasConfirmed = addedAt.size === 0
      for (const { name } of next) if (!before.delete(name)) addedAt.set(name, clock.now())
      for (const name of before) addedAt.delete(name)
      if (wasConfirmed && addedAt.size > 0) {
        // If the servers added before were removed, their timer is still set.
        cancelConfirm()
        cancelConfirm = clock.after(heartbeatMs, confirmAdded)
      }
      cancelAnnounce()
      cancelAnnounce = clock.after(announceDelayMs, () => void announce())
    },
    announce,
    refresh(next) {
      members = next
      waitingRead ??= enqueue(read)
      return waitingRead
    },
    receive(message) {
      const announced = decodeListMessage(message)
      if (announced !== undefined && announced.member !== id) void enqueue(() => apply(announced))
      return announced !== undefined
    },
    differences: () => differences,
    close() {
      isClosed = true
      cancelAnnounce()
      cancelConfirm()
    },
  }
}
