import type { Comeback } from './comeback-format.ts'
import { type Builder, baseBuilder, type Database } from './database.ts'
import { parseDay } from './dates.ts'
import { type NumberColumn, numberColumn } from './number-column.ts'
import { type TextColumn, textColumn } from './text-column.ts'
import { type ValueIndex, valueIndex } from './value-index.ts'

/** The comebacks with an index for each filter. The id of an entry is its position. */
export interface ComebacksDatabase extends Database {
  readonly artist: TextColumn
  readonly title: TextColumn
  readonly types: ValueIndex
  /** KST calendar date as days since 1970-01-01. */
  readonly day: NumberColumn
  readonly info: Info
}

export interface Info {
  readonly num_items: number
  readonly num_artists: number
  readonly start_date: string
  readonly end_date: string
}

export function comebacksBuilder(): Builder<Comeback, ComebacksDatabase> {
  const base = baseBuilder<Comeback>()
  const [artist, title, types] = [textColumn(), textColumn(), valueIndex()]
  const days: (number | undefined)[] = []
  /** Many entries share a date, and a lookup is cheaper than parsing. */
  const cache = new Map<string, number | undefined>()
  const dayOf = (date: string): number | undefined => {
    let day = cache.get(date)
    if (day === undefined && !cache.has(date)) {
      day = parseDay(date)
      cache.set(date, day)
    }
    return day
  }
  const artists = new Set<string>()
  let [first, last]: (Comeback | undefined)[] = []
  return {
    add(entry) {
      base.add(entry, true)
      artist.add(entry.artist)
      artists.add(entry.artist)
      title.add(entry.title)
      types.add(days.length, entry.types)
      days.push(dayOf(entry.date))
      first ??= entry
      last = entry
    },
    finish: (head) => ({
      ...base.finish(head),
      artist: artist.finish(),
      title: title.finish(),
      types: types.finish(),
      day: numberColumn(days),
      info: {
        num_items: days.length,
        num_artists: artists.size,
        start_date: first?.date ?? '',
        end_date: last?.date ?? '',
      },
    }),
  }
}
