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
  /** Restores a change that an earlier process recorded. */
  restore(change: SessionChange): void
  /** Sets when the list was last read, after everything has been restored. */
  resume(at: number): void
  takeChanges(): readonly SessionChange[]
  /** Newest first. */
  list(): readonly Session[]
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

/** The last sessions in one buffer, which doubles up to its capacity; then the oldest session is overwritten. */
export function createSessions(): Sessions {
  let buffer = nothing
  let count = 0
  /** Positions of the open sessions. */
  const open = new Map<string, number>()
  let previous: ReadonlySet<string> | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  let changes: SessionChange[] = []

  /** Grows the buffer, unless it has its full size. */
  function reserve(sessions: number): void {
    const larger = Buffer.alloc(Math.min(capacity, sessions) * layout.size)
    buffer.copy(larger)
    buffer = larger
  }

  function apply(change: SessionChange): void {
    if (change.kind === 'leave') {
      const at = open.get(change.name)
      open.delete(change.name)
      if (at !== undefined) buffer.writeDoubleLE(change.at, at + layout.to)
      return
    }
    const at = (count++ % capacity) * layout.size
    if (at === buffer.length) reserve(Math.max(minCapacity, (2 * at) / layout.size))
    for (const [name, position] of open) if (position === at) open.delete(name)
    buffer.fill(0, at, at + layout.size)
    buffer.writeDoubleLE(change.at, at + layout.from)
    buffer.writeDoubleLE(online, at + layout.to)
    buffer.write(change.id.replaceAll('-', ''), at + layout.id, 'hex')
    buffer.writeUInt8(buffer.write(change.name, at + layout.name), at + layout.length)
    open.set(change.name, at)
  }

  function record(change: SessionChange): void {
    apply(change)
    changes.push(change)
    // Without a file no one reads the changes.
    if (changes.length > 2 * capacity) changes = changes.slice(-capacity)
  }

  function read(at: number): Session {
    const [from, to] = [buffer.readDoubleLE(at + layout.from), buffer.readDoubleLE(at + layout.to)]
    const digits = buffer.toString('hex', at + layout.id, at + layout.length)
    const name = at + layout.name
    return {
      name: buffer.toString('utf8', name, name + buffer.readUInt8(at + layout.length)),
      ...(!/^0+$/.test(digits) && { id: digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }),
      ...(!Number.isNaN(from) && { from }),
      ...(Number.isFinite(to) && { to }),
      isOnline: to === online,
    }
  }

  return {
    observe(players, at) {
      const list = players.map(({ name, id = '' }) => ({ name: shorten(name), id }))
      const now = new Set(list.map(({ name }) => name))
      const isContinued = Math.abs(at - lastAt) <= maxGap
      const before = previous ?? new Set(open.keys())
      const ended = isContinued ? [...before].filter((name) => !now.has(name)) : [...open.keys()]
      for (const name of ended) record({ kind: 'leave', name, at: isContinued && previous !== undefined ? at : Number.NaN })
      for (const { name, id } of list) {
        if (isContinued && before.has(name)) continue
        record({ kind: 'join', name, id, at: isContinued && previous !== undefined ? at : Number.NaN })
      }
      previous = now
      lastAt = at
    },
    restore: apply,
    resume(at) {
      lastAt = at
    },
    takeChanges() {
      const taken = changes
      changes = []
      return taken
    },
    list: () =>
      Array.from({ length: Math.min(count, capacity) }, (_, index) => read(((count - 1 - index) % capacity) * layout.size)),
    bytes: () => buffer.byteLength,
    write(writer) {
      writer.uint32(count)
      writer.bytes(buffer.subarray(0, Math.min(count, capacity) * layout.size))
    },
    read(reader) {
      count = reader.uint32()
      const bytes = reader.bytes()
      if (bytes.length > buffer.length) reserve(Math.ceil(bytes.length / layout.size))
      bytes.copy(buffer)
      for (let index = Math.max(0, count - capacity); index < count; index++) {
        const at = (index % capacity) * layout.size
        const { name, isOnline } = read(at)
        if (isOnline) open.set(name, at)
      }
    },
  }
}
