import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Log } from '../../../util/log.ts'
import { type Static, Type } from '../../../util/schema.ts'
import { type Comeback, comebacksDatabase } from '../../databases/kcomebacks.ts'
import { readPublished } from '../published.ts'
import { readStateFile, writeStateFile } from '../state-file.ts'

/** Some 200 bytes for each month. */
const maxStateBytes = 1024 * 1024

/** Version of the parsing rules. Increase it when rows are parsed differently, so that every month is read again. */
const rules = 3

/** State of the page that the stored entries of a month were read from. */
const MonthState = Type.Object({
  revision: Type.Optional(Type.String()),
  etag: Type.Optional(Type.String()),
  /** When the page was last read. Unix milliseconds. */
  read: Type.Integer(),
  /** Digest of its entries in the snapshot, to notice that the snapshot was replaced. */
  digest: Type.String(),
})
export type MonthState = Static<typeof MonthState>

/** Entries of a page that were refused because it has lost others. */
const Refused = Type.Object({ digest: Type.String(), times: Type.Integer() })

const States = Type.Object({
  rules: Type.Literal(rules),
  months: Type.Record(Type.String(), MonthState),
  refused: Type.Optional(Type.Record(Type.String(), Refused)),
})

/** What is known about the pages, by month. */
interface PageStates {
  readonly months: ReadonlyMap<string, MonthState>
  readonly refused: ReadonlyMap<string, Static<typeof Refused>>
}

export const digestOf = (entries: readonly Comeback[]): string =>
  createHash('sha256').update(JSON.stringify(entries)).digest('base64url')

/** Reads the entries published before: of the current snapshot, or if that is broken, the newest of the previous ones. */
export async function readStored(path: string, log: Log) {
  const published = await readPublished(path, comebacksDatabase, log)
  const months = new Map<string, Comeback[]>()
  for (const entry of published?.entries ?? []) {
    const key = entry.date.slice(0, 7)
    const month = months.get(key)
    if (month === undefined) months.set(key, [entry])
    else month.push(entry)
  }
  return {
    /** By month (`2024-02`), each in the order of the file. */
    months: months as ReadonlyMap<string, readonly Comeback[]>,
    /** Its `last_update` in Unix milliseconds; undefined if nothing was published. */
    lastUpdate: published && published.lastUpdate.time * 1000,
  }
}

const stateFile = (dataDir: string): string => join(dataDir, 'kcomebacks.months.json')

/** The state by month; empty if none is stored or it is not valid, so that every month is read again. */
export async function readStates(dataDir: string): Promise<PageStates> {
  const stored = await readStateFile(stateFile(dataDir), States, maxStateBytes)
  return { months: new Map(Object.entries(stored?.months ?? {})), refused: new Map(Object.entries(stored?.refused ?? {})) }
}

export async function writeStates(dataDir: string, states: PageStates): Promise<void> {
  const sorted = <T>(map: ReadonlyMap<string, T>) => Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
  await writeStateFile(stateFile(dataDir), { rules, months: sorted(states.months), refused: sorted(states.refused) })
}
