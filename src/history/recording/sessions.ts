import type { Player } from '../../game/fields.ts'

/** A visit of one player to the server. */
export interface Session {
  readonly name: string
  /** Dashed UUID; absent if only the name is known. */
  readonly id?: string
  /** Unix milliseconds; absent if the player joined before the server was watched. */
  readonly from?: number
  /** Unix milliseconds; absent while the player is online, and if the player left while the server was not watched. */
  readonly to?: number
  /** Null if the player was online and the list of players is not known now. */
  readonly isOnline: boolean | null
}

/**
 * A session that started or ended, at an unknown time if `at` is null, or the sessions of all who are online, which go on. Unix
 * milliseconds.
 */
export type SessionChange =
  | {
      readonly kind: 'join' | 'leave'
      readonly name: string
      readonly id: string | null
      readonly at: number | null
      /** When it was noticed. */
      readonly changedAt: number
    }
  | { readonly kind: 'stay'; readonly changedAt: number }

/** Maximum length of a name. A player name has at most 16 characters. */
const maxName = 32
/** Milliseconds without a player list after which it is unknown whether the players stayed online. */
const maxGap = 600_000

/** After so many changes that are not written yet, further lists are not compared: a server may list other players at every poll. */
const maxChanges = 20_000

/** Compares the lists of the players of one server. A class, because closures for each of thousands of servers would take kilobytes. */
export class SessionTracker {
  /** Names of the players that are online. Created for the first one: most servers have no source of the full list. */
  #online: Set<string> | undefined
  /** The last list: the array of the last snapshot, which takes no extra memory. */
  #previous: readonly Player[] | undefined
  /** Unix milliseconds of the last list, at first that of an earlier process. */
  #lastAt = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds of the last list. */
  #lastNow: number | undefined
  #isKnown = false
  /** Unix milliseconds up to which it has been told that those who are online stay. */
  #toldAt = Number.NEGATIVE_INFINITY
  #changes: SessionChange[] = []

  /** Whether it is known now who is online. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** Continues from what an earlier process recorded up to `at`, Unix milliseconds. */
  resume(online: readonly string[], at: number): void {
    if (online.length > 0) this.#online = new Set(online)
    this.#lastAt = at
  }

  /** @param players the full list at `at`, Unix milliseconds; @param now the same in monotonic milliseconds */
  observe(players: readonly Player[], at: number, now: number): void {
    if (this.#changes.length >= maxChanges) {
      this.markUnknown()
      return
    }
    // The clock may have been set since the last list; an earlier process had another monotonic time.
    const gap = this.#lastNow === undefined ? Math.abs(at - this.#lastAt) : now - this.#lastNow
    const isContinued = gap <= maxGap
    // Most polls find the same list.
    if (!isContinued || players !== this.#previous) this.#compare(players, at, isContinued)
    this.#previous = players
    this.#lastAt = at
    this.#lastNow = now
    this.#isKnown = true
  }

  /** There is no list from now on. */
  markUnknown(): void {
    this.#isKnown = false
  }

  /** Ends all sessions at an unknown time: the next list is that of another server. */
  end(at: number): void {
    for (const name of this.#online ?? []) this.#changes.push({ kind: 'leave', name, id: null, at: null, changedAt: at })
    this.#online = undefined
    this.#previous = undefined
    this.#lastAt = Number.NEGATIVE_INFINITY
    this.#lastNow = undefined
    this.#isKnown = false
  }

  /** Returns the changes since the last call. */
  take(): readonly SessionChange[] {
    const taken = this.#changes
    if (taken.length > 0) this.#changes = []
    if (this.#online === undefined || this.#lastNow === undefined || this.#lastAt === this.#toldAt) return taken
    this.#toldAt = this.#lastAt
    return [...taken, { kind: 'stay', changedAt: this.#lastAt }]
  }

  /** Records who joined and left since the last list. */
  #compare(players: readonly Player[], changedAt: number, isContinued: boolean): void {
    const before = this.#online ?? new Set()
    const now = new Map(players.map(({ name, id = null }) => [name.slice(0, maxName), id]))
    const at = isContinued && this.#previous !== undefined ? changedAt : null
    for (const name of before)
      if (!isContinued || !now.has(name)) this.#changes.push({ kind: 'leave', name, id: null, at, changedAt })
    for (const [name, id] of now)
      if (!isContinued || !before.has(name)) this.#changes.push({ kind: 'join', name, id: id || null, at, changedAt })
    this.#online = now.size === 0 ? undefined : new Set(now.keys())
  }
}
