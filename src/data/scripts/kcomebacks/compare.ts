import type { Comeback } from '../../databases/kcomebacks.ts'

/** Counts the differences to the previous entries of a month. An entry is changed if a removed one had its artist and title. */
export function compare(before: readonly Comeback[], now: readonly Comeback[]) {
  const remaining = new Map<string, number>()
  const take = (key: string): boolean => {
    const count = remaining.get(key) ?? 0
    if (count > 0) remaining.set(key, count - 1)
    return count > 0
  }
  const put = (key: string) => remaining.set(key, (remaining.get(key) ?? 0) + 1)
  const whole = (entry: Comeback) => JSON.stringify(entry)
  const name = ({ artist, title }: Comeback) => JSON.stringify([artist, title])

  for (const entry of before) put(whole(entry))
  const differing = now.filter((entry) => !take(whole(entry)))
  const kept = new Set(now.map(whole))
  for (const entry of before) if (!kept.has(whole(entry))) put(name(entry))
  const added = differing.filter((entry) => !take(name(entry))).length
  return { added, changed: differing.length - added, unchanged: now.length - differing.length }
}
