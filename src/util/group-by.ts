/** Groups items by a key, both in their order. As `Map.groupBy()`, which Node.js has since version 21. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const members = groups.get(key)
    if (members === undefined) groups.set(key, [item])
    else members.push(item)
  }
  return groups
}
