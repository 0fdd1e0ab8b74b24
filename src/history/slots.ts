/** Initial number of slots of a table. */
const minCapacity = 4
/** 16-bit words of each slot that hold the number of its bucket. */
const numberWords = 2
/** Shared: an array takes 300 bytes even if it is empty. */
const noWords = new Uint16Array(0)

/**
 * A table of the last `maxSlots` buckets by their numbers since 1970. Each slot has the number of its bucket, so that a clock
 * that jumps only costs the slots written while it is wrong. It is one array that doubles as buckets are added, because
 * thousands of servers have up to six tables each (`npm run bench -- fleet`).
 */
export class Slots {
  readonly #maxSlots: number
  readonly #empty: readonly number[]
  #capacity = 0
  /** For each slot the number of its bucket plus 1 (0: none), then the words. Replaced when the table grows. */
  words = noWords

  /** @param empty the words of an empty bucket */
  constructor(maxSlots: number, empty: readonly number[]) {
    this.#maxSlots = maxSlots
    this.#empty = empty
  }

  get byteLength(): number {
    return this.words.byteLength
  }

  /** Index of the words of a bucket; -1 if the table does not have it. */
  find(bucket: number): number {
    if (this.#capacity === 0) return -1
    const at = this.#offset(bucket)
    return this.#numberAt(at) === bucket ? at + numberWords : -1
  }

  /** Index of the words of a bucket, which is added if necessary. In a table of full size it replaces the bucket in its slot. */
  enter(bucket: number): number {
    const found = this.find(bucket)
    if (found !== -1) return found
    while (this.#capacity < this.#maxSlots && this.#isTaken(bucket)) this.#grow()
    const at = this.#offset(bucket)
    this.#put(at, bucket)
    this.words.set(this.#empty, at + numberWords)
    return at + numberWords
  }

  /** The numbers of the buckets, in no particular order. */
  *buckets(): Generator<number> {
    const width = this.#width
    for (let at = 0; at < this.words.length; at += width) {
      const number = this.#numberAt(at)
      if (number !== -1) yield number
    }
  }

  /** The same buckets with other words: `convert` is called for each bucket with the indexes of its words in both tables. */
  converted(empty: readonly number[], convert: (to: Slots, target: number, from: number) => void): Slots {
    const other = new Slots(this.#maxSlots, empty)
    for (const bucket of this.buckets()) {
      const target = other.enter(bucket)
      convert(other, target, this.find(bucket))
    }
    return other
  }

  get #width(): number {
    return numberWords + this.#empty.length
  }

  /** Whether the slot has another bucket, whatever its number: the clock may have jumped, and may jump back. */
  #isTaken(bucket: number): boolean {
    return this.#capacity === 0 || this.#numberAt(this.#offset(bucket)) !== -1
  }

  #offset(bucket: number): number {
    return (bucket % this.#capacity) * this.#width
  }

  #numberAt(at: number): number {
    return (this.words[at] ?? 0) + (this.words[at + 1] ?? 0) * 0x10000 - 1
  }

  #put(at: number, bucket: number): void {
    this.words[at] = (bucket + 1) & 0xffff
    this.words[at + 1] = (bucket + 1) >>> 16
  }

  #grow(): void {
    const [before, width] = [this.words, this.#width]
    const doubled = this.#capacity === 0 ? minCapacity : 2 * this.#capacity
    this.#capacity = 2 * doubled > this.#maxSlots ? this.#maxSlots : doubled
    this.words = new Uint16Array(this.#capacity * width)
    for (let from = 0; from < before.length; from += width) {
      const bucket = (before[from] ?? 0) + (before[from + 1] ?? 0) * 0x10000 - 1
      const at = this.#offset(bucket)
      // The full size may be less than twice the previous one: if two buckets share a slot, the newer one stays.
      if (bucket !== -1 && this.#numberAt(at) < bucket) this.words.set(before.subarray(from, from + width), at)
    }
  }
}
