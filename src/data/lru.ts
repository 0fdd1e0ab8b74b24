/** Remembers what was made, up to a total weight; what was used least recently goes first. */
export interface Memory<V extends object> {
  /** The remembered value, else that of `make`, remembered from then on if it is not too heavy on its own. */
  get(key: string, make: () => V): V
  /** The remembered value, if it is. */
  find(key: string): V | undefined
}

/** What a key costs beside its text: the slot, the object around the value. */
const overhead = 200

/**
 * @param limit total weight in bytes
 * @param weigh bytes that a value takes
 */
export function memory<V extends object>(limit: number, weigh: (value: V) => number): Memory<V> {
  const slots = new Map<string, { readonly value: V; readonly weight: number }>()
  let total = 0
  function find(key: string): V | undefined {
    const known = slots.get(key)
    if (known === undefined) return undefined
    slots.delete(key)
    slots.set(key, known)
    return known.value
  }
  return {
    find,
    get(key, make) {
      const known = find(key)
      if (known !== undefined) return known
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
