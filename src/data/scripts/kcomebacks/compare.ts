import type { Comeback } from '../../databases/kcomebacks.ts'

export type Named = Pick<Comeback, 'artist' | 'title'>
export const nameOf = ({ artist, title }: Named): string => JSON.stringify([artist, title])
const whole = (entry: Comeback): string => JSON.stringify(entry)

/** Texts with their number. */
export class Bag {
  readonly #counts = new Map<string, number>()

  constructor(texts: readonly string[]) {
    for (const text of texts) this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1)
  }

  /** Removes a text. @returns false if there is none left */
  take(text: string): boolean {
    const count = this.#counts.get(text) ?? 0
    this.#counts.set(text, Math.max(0, count - 1))
    return count > 0
  }
}

/** Counts the differences to the previous entries of a month. An entry is changed if a removed one had its artist and title. */
export function compare(before: readonly Comeback[], now: readonly Comeback[]) {
  const [all, kept] = [new Bag(before.map(whole)), new Set(now.map(whole))]
  const differing = now.filter((entry) => !all.take(whole(entry)))
  const removed = new Bag(before.filter((entry) => !kept.has(whole(entry))).map(nameOf))
  const added = differing.filter((entry) => !removed.take(nameOf(entry))).length
  return { added, changed: differing.length - added, unchanged: now.length - differing.length }
}
