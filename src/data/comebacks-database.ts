import { setImmediate as breathe } from 'node:timers/promises'
import type { Comeback } from './comeback.ts'
import { baseOf, type Database } from './database.ts'
import { parseDay } from './dates.ts'
import type { LoadedSnapshot } from './load.ts'
import { type NumberColumn, numberColumn } from './number-column.ts'
import { type TextColumn, textColumn } from './text-column.ts'
import { type ValueIndex, valueIndex } from './value-index.ts'

/** The comebacks, made to be asked. The id of an entry is its place. */
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

export async function comebacksDatabase(snapshot: LoadedSnapshot<Comeback>): Promise<ComebacksDatabase> {
  const { entries } = snapshot
  const types = valueIndex()
  entries.forEach((entry, id) => {
    types.add(id, entry.types)
  })
  const artists = entries.map(({ artist }) => artist)
  await breathe()
  const artist = textColumn(artists)
  await breathe()
  const title = textColumn(entries.map((entry) => entry.title))
  await breathe()
  const day = numberColumn(entries.map(({ date }) => parseDay(date)))
  await breathe()
  return {
    ...(await baseOf(snapshot)),
    artist,
    title,
    types: types.finish(),
    day,
    info: {
      num_items: entries.length,
      num_artists: new Set(artists).size,
      start_date: entries[0]?.date ?? '',
      end_date: entries[entries.length - 1]?.date ?? '',
    },
  }
}
