import { isTime } from '../game/check.ts'
import type { Player } from '../game/fields.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

/** A visit of one player to the server. */
export interface Session {
  readonly name: string
  /** Dashed UUID; absent if only the name is known. */
  readonly id?: string
  /** Unix milliseconds; absent if the player joined before the server was watched. */
  readonly from?: number
  /** Unix milliseconds; absent while the player is online, and if the player left while the server was not watched. */
  readonly to?: number
  readonly isOnline: boolean
}

/** A record of the file: a session that started or ended. Unix milliseconds, NaN if unknown. */
export type SessionChange =
  | { readonly kind: 'join'; readonly name: string; readonly id: string; readonly at: number }
  | { readonly kind: 'leave'; readonly name: string; readonly at: number }

export interface Sessions {
  /** @param players the full list at `at`, Unix milliseconds */
  observe(players: readonly Player[], at: number): void
  /** Ends all sessions at an unknown time: the next list is that of another server. */
  end(): void
  /** Restores a change that an earlier process recorded. */
  restore(change: SessionChange): void
  /** Sets when the list was last read, after everything has been restored. */
  resume(at: number): void
  takeChanges(): readonly SessionChange[]
  /** Newest first. */
  list(): readonly Session[]
  /** @param id the 16 bytes of the UUID */
  has(id: Buffer): boolean
  bytes(): number
  write(writer: ByteWriter): void
  read(reader: ByteReader): void
}

const capacity = 200
/** Layout of a session: start, end, id, length of the name, name. */
const layout = { from: 0, to: 8, id: 16, length: 32, name: 33, size: 64 } as const
const maxName = layout.size - layout.name
/** Milliseconds without a player list after which it is unknown whether the players stayed online. */
const maxGap = 600_000
/** End of a session that has not ended. */
const online = Number.POSITIVE_INFINITY

/** The name, truncated to the layout. A player name has at most 16 characters. */
function shorten(name: string): string {
  const bytes = new Uint8Array(maxName)
  const { written } = new TextEncoder().encodeInto(name, bytes)
  return Buffer.from(bytes.subarray(0, written)).toString()
}

/** Initial capacity of the buffer, in sessions. */
const minCapacity = 5
const nothing = Buffer.alloc(0)
const noChanges: readonly SessionChange[] = []

export const createSessions = (): Sessions => new StoredSessions()

/**
 * The last sessions in one buffer, which doubles up to its capacity; then the oldest session is overwritten. A class for the same
 * reason as rings.ts.
 */
class StoredSessions implements Sessions {
  #buffer = nothing
  #count = 0
  /** Positions of the open sessions. Created for the first one: most servers have no source of the full list. */
  #open: Map<string, number> | undefined
  /** The last list: the array of the last snapshot, which takes no extra memory. */
  #previous: readonly Player[] | undefined
  #lastAt = Number.NEGATIVE_INFINITY
  #changes: SessionChange[] | undefined

  observe(players: readonly Player[], at: number): void {
    const isContinued = Math.abs(at - this.#lastAt) <= maxGap
    // Most polls find the same list.
    if (!isContinued || players !== this.#previous) this.#compare(players, at, isContinued)
    this.#previous = players
    this.#lastAt = at
  }

  /** Records who joined and left since the last list. */
  #compare(players: readonly Player[], at: number, isContinued: boolean): void {
    const list = players.map(({ name, id = '' }) => ({ name: shorten(name), id }))
    const now = new Set(list.map(({ name }) => name))
    const open = [...(this.#open?.keys() ?? [])]
    const before = new Set(this.#previous?.map(({ name }) => shorten(name)) ?? open)
    const ended = isContinued ? [...before].filter((name) => !now.has(name)) : open
    const knownAt = isContinued && this.#previous !== undefined ? at : Number.NaN
    for (const name of ended) this.#record({ kind: 'leave', name, at: knownAt })
    for (const { name, id } of list) {
      if (!(isContinued && before.has(name))) this.#record({ kind: 'join', name, id, at: knownAt })
    }
  }

  end(): void {
    for (const name of [...(this.#open?.keys() ?? [])]) this.#record({ kind: 'leave', name, at: Number.NaN })
    this.#previous = undefined
    this.#lastAt = Number.NEGATIVE_INFINITY
  }

  restore(change: SessionChange): void {
    this.#apply(change)
  }

  resume(at: number): void {
    this.#lastAt = at
  }

  takeChanges(): readonly SessionChange[] {
    const taken = this.#changes ?? noChanges
    this.#changes = undefined
    return taken
  }

  list(): readonly Session[] {
    const length = Math.min(this.#count, capacity)
    return Array.from({ length }, (_, index) => this.#read(((this.#count - 1 - index) % capacity) * layout.size))
  }

  has(id: Buffer): boolean {
    const end = Math.min(this.#count, capacity) * layout.size
    // The id of a session of which only the name is known.
    if (id.every((byte) => byte === 0)) return false
    const first = id.readInt32LE(0)
    for (let at = layout.id; at < end; at += layout.size) {
      // Comparing buffers costs ten times as much as reading a number, and nearly all sessions are of other players.
      if (this.#buffer.readInt32LE(at) === first && id.equals(this.#buffer.subarray(at, at + id.length))) return true
    }
    return false
  }

  bytes(): number {
    return this.#buffer.byteLength
  }

  write(writer: ByteWriter): void {
    writer.uint32(this.#count)
    writer.bytes(this.#buffer.subarray(0, Math.min(this.#count, capacity) * layout.size))
  }

  read(reader: ByteReader): void {
    const count = reader.uint32()
    const bytes = reader.bytes()
    if (bytes.length !== Math.min(count, capacity) * layout.size) throw new RangeError('the sessions are damaged')
    this.#count = count
    if (bytes.length > this.#buffer.length) this.#reserve(Math.ceil(bytes.length / layout.size))
    bytes.copy(this.#buffer)
    for (let index = Math.max(0, this.#count - capacity); index < this.#count; index++) {
      const at = (index % capacity) * layout.size
      const { name, isOnline } = this.#read(at)
      if (isOnline) this.#openAt(name, at)
    }
  }

  #openAt(name: string, at: number): void {
    this.#open ??= new Map()
    this.#open.set(name, at)
  }

  /** Grows the buffer, unless it has its full size. */
  #reserve(sessions: number): void {
    const larger = Buffer.alloc(Math.min(capacity, sessions) * layout.size)
    this.#buffer.copy(larger)
    this.#buffer = larger
  }

  #apply(change: SessionChange): void {
    if (change.kind === 'leave') {
      const at = this.#open?.get(change.name)
      this.#open?.delete(change.name)
      if (at !== undefined) this.#buffer.writeDoubleLE(change.at, at + layout.to)
      return
    }
    const at = (this.#count++ % capacity) * layout.size
    if (at === this.#buffer.length) this.#reserve(Math.max(minCapacity, (2 * at) / layout.size))
    for (const [name, position] of this.#open ?? []) if (position === at) this.#open?.delete(name)
    const buffer = this.#buffer
    buffer.fill(0, at, at + layout.size)
    buffer.writeDoubleLE(change.at, at + layout.from)
    buffer.writeDoubleLE(online, at + layout.to)
    buffer.write(change.id.replaceAll('-', ''), at + layout.id, 'hex')
    buffer.writeUInt8(buffer.write(change.name, at + layout.name), at + layout.length)
    this.#openAt(change.name, at)
  }

  #record(change: SessionChange): void {
    this.#apply(change)
    this.#changes ??= []
    this.#changes.push(change)
    // Nothing takes the changes while the file cannot be written.
    if (this.#changes.length > 2 * capacity) this.#changes = this.#changes.slice(-capacity)
  }

  #read(at: number): Session {
    const buffer = this.#buffer
    const [from, to] = [buffer.readDoubleLE(at + layout.from), buffer.readDoubleLE(at + layout.to)]
    const digits = buffer.toString('hex', at + layout.id, at + layout.length)
    const name = at + layout.name
    return {
      name: buffer.toString('utf8', name, name + buffer.readUInt8(at + layout.length)),
      ...(!/^0+$/.test(digits) && { id: digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }),
      ...(isTime(from) && { from }),
      ...(isTime(to) && { to }),
      isOnline: to === online,
    }
  }
}
