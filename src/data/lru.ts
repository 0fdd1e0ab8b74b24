/** Remembers what was made, up to a total weight; what was used least recently goes first. */
export interface Memory<V> {
  /** The remembered value, else that of `make`, remembered from then on if it is not too heavy on its own. */
  get(key: string, make: () => V): V
}

/** What a key costs beside its text: the slot, the object around the value. */
const overhead = 200

/**
 * @param limit total weight in bytes
 * @param weigh bytes that a value takes
 */
export function memory<V>(limit: number, weigh: (value: V) => number): Memory<V> {
  const slots = new Map<string, { readonly value: V; readonly weight: number }>()
  let total = 0
  return {
    get(key, make) {
      const known = slots.get(key)
      if (known !== undefined) {
        slots.delete(key)
        slots.set(key, known)
        return known.value
      }
      const value = make()
      const weight = weigh(value) + 2 * key.length + overhead
      // One value may not push out all others.
      if (weight > limit / 2) return value
      slots.set(key, { value, weight })
      total += weight
      for (const [oldest, slot] of slots) {
        if (total <= limit) break
        slots.delete(oldest)
        total -= slot.weight
      }
      return value
    },
  }
}
