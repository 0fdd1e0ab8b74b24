import type { Player } from '../game/fields.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

/** The time of one player on the server. */
export interface Session {
  readonly name: string
  /** Dashed UUID; absent where only the name is known. */
  readonly id?: string
  /** Unix milliseconds; absent where the player was on before anyone watched. */
  readonly from?: number
  /** Unix milliseconds; absent while the player is on, and where nobody watched when the player left. */
  readonly to?: number
  readonly isOnline: boolean
}

/** What the file has a record of: a session that began, or one that ended. Unix milliseconds, NaN where unknown. */
export type SessionChange =
  | { readonly kind: 'join'; readonly name: string; readonly id: string; readonly at: number }
  | { readonly kind: 'leave'; readonly name: string; readonly at: number }

export interface Sessions {
  /** @param players the full list at `at`, Unix milliseconds */
  observe(players: readonly Player[], at: number): void
  /** Adds a change that was recorded before the process ended. */
  restore(change: SessionChange): void
  /** Sets when the list was last known, after everything has been restored. */
  resume(at: number): void
  takeChanges(): readonly SessionChange[]
  /** Newest first. */
  list(): readonly Session[]
  bytes(): number
  write(writer: ByteWriter): void
  read(reader: ByteReader): void
}

const capacity = 200
/** Bytes of a session: when it began and ended, the id, the length of the name, the name. */
const layout = { from: 0, to: 8, id: 16, length: 32, name: 33, size: 64 } as const
const maxName = layout.size - layout.name
/** Milliseconds without a list after which nobody can say that those who are on have been on all the time. */
const maxGap = 600_000
/** In place of the end of a session that has not ended. */
const online = Number.POSITIVE_INFINITY

/** The name as it is recorded: no more than fits. A name of the game has at most 16 characters. */
function shorten(name: string): string {
  const bytes = new Uint8Array(maxName)
  const { written } = new TextEncoder().encodeInto(name, bytes)
  return Buffer.from(bytes.subarray(0, written)).toString()
}

/** Sessions that the buffer has room for at first. */
const minCapacity = 5
const nothing = Buffer.alloc(0)

/** The last sessions in one buffer, which doubles up to its capacity; then the oldest is overwritten first. */
export function createSessions(): Sessions {
  let buffer = nothing
  let count = 0
  /** Where the sessions of those who are on begin. */
  const open = new Map<string, number>()
  let previous: ReadonlySet<string> | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  let changes: SessionChange[] = []

  /** Grows the buffer while not every session was overwritten yet. */
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
    // Nobody takes them where nothing is written to a file.
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
