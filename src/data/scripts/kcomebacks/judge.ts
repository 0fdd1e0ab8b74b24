import type { Comeback } from '../../databases/kcomebacks.ts'
import { parseDay } from '../../store/dates.ts'
import { minShare } from '../write-snapshot.ts'
import { Bag, type Named, nameOf } from './compare.ts'
import type { MonthNow } from './month.ts'

/** Entries by month: `2024-02`. */
type Months = ReadonlyMap<string, readonly Comeback[]>

/** Why a page must not replace the stored entries of its month. */
interface Objection {
  readonly reason: string
  /**
   * Whether the page may be right all the same, and is believed once it was read the same some times. It is not if it has no table,
   * has rows that another page has too, or still names half of the missing entries: then it has another form instead.
   */
  readonly isPlausible: boolean
}

const isDated = ({ date }: Comeback): boolean => parseDay(date) !== undefined

/** Maximum number of entries that a message names. */
const maxNamed = 10
/** Maximum number of missing entries that are looked for elsewhere on the page. */
const maxSought = 100
/** A row of more months does not say whose it is. */
const maxMonths = 4
/** How often pages are judged again: entries that move through more refused pages are no edits of people. */
const maxRounds = 8
const tooManyRounds: Objection = {
  reason: 'its entries depend on those of too many pages that are refused',
  isPlausible: false,
}
/** A page may lose so many entries, or have so many of another page, whatever its length. */
const minLoss = 1

/**
 * Why the entries of a page must not replace the stored ones; undefined if they may. Not lost are entries that are struck out or
 * turn up in another month, and announced ones without a day, unless the page has no table any more.
 * @param elsewhere names of the entries of the other months, as their pages are now
 * @param before names of the entries that all months had before
 */
export function findLoss(
  { entries, cancelled, hasTable, markdown }: Pick<MonthNow, 'entries' | 'cancelled' | 'hasTable' | 'markdown'>,
  stored: readonly Comeback[],
  elsewhere: Pick<ReadonlySet<string>, 'has'>,
  before: Pick<ReadonlySet<string>, 'has'>,
): Objection | undefined {
  const known = new Set(stored.map(nameOf))
  const isCopied = (entry: Comeback) => !known.has(nameOf(entry)) && before.has(nameOf(entry))
  const present = new Bag([...entries, ...cancelled].map(nameOf))
  const isLost = (entry: Comeback) => (!hasTable || isDated(entry)) && !elsewhere.has(nameOf(entry))
  const lost = stored.filter((entry) => !present.take(nameOf(entry)) && isLost(entry))
  // A changed title is a lost entry and a new one, which no other month had: else this may be the page of that month.
  const copied = entries.filter(isCopied)
  const replaced = entries.length - copied.length - (stored.length - lost.length)
  const missing = lost.length - Math.max(0, replaced)
  const isEmptied = entries.length === 0 && missing > 0
  const isLarge = missing > minLoss && stored.length - missing < minShare * stored.length
  if (!isEmptied && !isLarge) return undefined
  const names = lost.slice(0, maxNamed).map(({ date, artist, title }) => `${date} ${artist} - ${title}`)
  const more = lost.length > maxNamed ? ` and ${lost.length - maxNamed} more` : ''
  return {
    reason: `the page has ${entries.length} entries, but ${stored.length} are stored; missing: ${names.join(', ')}${more}`,
    // Read only when the same page has been refused some times.
    get isPlausible() {
      const inBoth = copied.filter((entry) => elsewhere.has(nameOf(entry))).length
      return hasTable && inBoth <= minLoss && !stillNames(markdown, lost.slice(0, maxSought))
    },
  }
}

/** The words of a text, with a space around each. */
const wordsOf = (text: string): string => ` ${text} `.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')

/** Whether a page has the artist and title of at least half of the entries, each in one line of whatever form. */
function stillNames(markdown: string, entries: readonly Named[]): boolean {
  const lines = markdown.split(/\r\n?|\n/).map(wordsOf)
  const isNamed = ({ artist, title }: Named) => {
    const [ofArtist, ofTitle] = [wordsOf(artist), wordsOf(title)]
    return lines.some((line) => line.includes(ofArtist) && line.includes(ofTitle))
  }
  return 2 * entries.filter(isNamed).length >= entries.length
}

/** Identifies a row with its day in the month: two pages have the same one only if it was copied or moved as it is. */
const rowOf = ({ date, artist, title }: Comeback): string => JSON.stringify([date.slice(8), artist, title])

const none: ReadonlySet<string> = new Set()

/** Entries by month, and the months of each entry by its name and by its row, which are never the same text. */
function createView(stored: Months) {
  const months = new Map<string, readonly Comeback[]>()
  const monthsByText = new Map<string, Set<string>>()
  const textsOf = (key: string) => (months.get(key) ?? []).flatMap((entry) => [nameOf(entry), rowOf(entry)])
  /** Replaces the entries of a month. */
  function set(key: string, entries: readonly Comeback[]): void {
    for (const text of textsOf(key)) monthsByText.get(text)?.delete(key)
    months.set(key, entries)
    for (const text of textsOf(key)) monthsByText.set(text, (monthsByText.get(text) ?? new Set()).add(key))
  }
  for (const [key, entries] of stored) set(key, entries)
  return { months, set, monthsOf: (text: string): ReadonlySet<string> => monthsByText.get(text) ?? none }
}
type View = ReturnType<typeof createView>

/** The month that occurs most often, and how many times. */
function mostFrequent(months: readonly string[]): readonly [month: string, count: number] {
  const counts = new Map<string, number>()
  for (const month of months) counts.set(month, (counts.get(month) ?? 0) + 1)
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0])
}

/**
 * Why the rows of a page must not become those of its month, because they are the rows of another: the other month had them and its
 * page still has them, or this page has most of them in place of its own. Rows without a day may be announced in several months.
 * @param pageOf the page of a month; undefined if the wiki no longer has one: the month keeps its entries
 */
function findOrigin(key: string, entries: readonly Comeback[], before: View, now: View, pageOf: JudgeOptions['pageOf']) {
  const datedIn = (list: readonly Comeback[] = []): string[] => list.filter(isDated).map(rowOf)
  const rows = datedIn(entries)
  const own = new Set(datedIn(before.months.get(key)))
  const others = rows.filter((row) => !own.has(row))
  const shareOf = (count: number): string => `${count} of the ${rows.length} dated entries of the page`
  const had = (row: string): string[] => (before.monthsOf(row).size > maxMonths ? [] : [...before.monthsOf(row)])
  const hasStill = (row: string) => (month: string) => pageOf(month) !== undefined && now.monthsOf(row).has(month)
  const [copy, copied] = mostFrequent(others.flatMap((row) => had(row).filter(hasStill(row))))
  if (copied > minLoss && rows.length - copied < minShare * rows.length)
    return { reason: `${shareOf(copied)} are also in ${pageOf(copy)}`, isPlausible: false }
  const [origin, moved] = mostFrequent(others.flatMap(had))
  const isReplaced = own.size === 0 || 2 * (rows.length - others.length) < own.size
  const isMost = 2 * moved > Math.max(rows.length, datedIn(before.months.get(origin)).length)
  if (moved <= minLoss || !isReplaced || !isMost) return undefined
  return { reason: `${shareOf(moved)} were in ${pageOf(origin) ?? origin}`, isPlausible: true }
}

interface JudgeOptions {
  readonly stored: Months
  /** The pages that were read, by month. */
  readonly pages: ReadonlyMap<string, MonthNow>
  /** Whether a page is accepted in spite of an objection. */
  readonly isAccepted: (key: string, objection: Objection) => boolean
  /** The page of a month; undefined if the wiki no longer has one. */
  readonly pageOf: (key: string) => string | undefined
}

/**
 * Judges all pages together, because entries move between them: at first as if all were accepted. A refused one leaves its month as
 * it is stored, so that those with the same entries are judged again.
 * @returns the objections to pages, accepted or not, and the months whose pages are refused
 */
export function judge({ stored, pages, isAccepted, pageOf }: JudgeOptions) {
  const [before, now] = [createView(stored), createView(stored)]
  for (const [key, { entries }] of pages) now.set(key, entries)
  const objections = new Map<string, Objection>()
  const refused = new Set<string>()

  function findObjection(key: string, page: MonthNow): Objection | undefined {
    const elsewhere = (name: string) => {
      const months = now.monthsOf(name)
      return months.size > (months.has(key) ? 1 : 0)
    }
    const found = [
      findLoss(page, stored.get(key) ?? [], { has: elsewhere }, { has: (name) => before.monthsOf(name).size > 0 }),
      findOrigin(key, page.entries, before, now, pageOf),
    ].filter((objection) => objection !== undefined)
    if (found.length === 0) return undefined
    return {
      reason: found.map(({ reason }) => reason).join('; '),
      get isPlausible() {
        return found.every(({ isPlausible }) => isPlausible)
      },
    }
  }

  let open: ReadonlySet<string> = new Set(pages.keys())
  for (let round = 0; open.size > 0; round++) {
    const next = new Set<string>()
    const judged = [...pages].filter(([key]) => open.has(key) && !refused.has(key))
    for (const [key, page] of judged) {
      const objection = round < maxRounds ? findObjection(key, page) : tooManyRounds
      objections.delete(key)
      if (objection === undefined) continue
      objections.set(key, objection)
      if (!isAccepted(key, objection)) refused.add(key)
    }
    for (const [key, { entries }] of judged) {
      if (!refused.has(key)) continue
      for (const entry of [...entries, ...(stored.get(key) ?? [])]) {
        if (next.size === now.months.size) break
        for (const { monthsOf } of [before, now]) for (const month of monthsOf(nameOf(entry))) next.add(month)
      }
      now.set(key, stored.get(key) ?? [])
    }
    open = next
  }
  return { objections, refused }
}
