/** Caches the values of at most `max` keys; the one that was added first is evicted. */
export function cachedPerKey<K, T>(make: (key: K) => T, max: number): (key: K) => T {
  const made = new Map<K, T>()
  return (key) => {
    const before = made.get(key)
    if (before !== undefined) return before
    const value = make(key)
    const [oldest] = made.keys()
    if (oldest !== undefined && made.size >= max) made.delete(oldest)
    made.set(key, value)
    return value
  }
}

/** Caches what was made from an object until the object is garbage-collected. */
export function cachedPerObject<K extends object, T>(make: (key: K) => T): (key: K) => T {
  const made = new WeakMap<K, T>()
  return (key) => {
    const before = made.get(key)
    if (before !== undefined) return before
    const value = make(key)
    made.set(key, value)
    return value
  }
}
