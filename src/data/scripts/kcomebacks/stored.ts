import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { groupBy } from '../../../util/group-by.ts'
import type { Log } from '../../../util/log.ts'
import { type Static, Type } from '../../../util/schema.ts'
import { type Comeback, comebacksDatabase } from '../../databases/kcomebacks.ts'
import { readStateFile, writeStateFile } from '../state-file.ts'
import { readPublished } from '../write-snapshot.ts'

/** Some 200 bytes for each month. */
const maxStateBytes = 1024 * 1024

/** Version of the parsing rules. Increase it when rows are parsed differently, so that every month is read again. */
const rules = 4

/** State of the page that the stored entries of a month were read from. */
const MonthState = Type.Object({
  revision: Type.Optional(Type.String()),
  /** When the page was last read. Unix milliseconds. */
  read: Type.Integer(),
  /** Digest of its entries in the snapshot, to notice that the snapshot was replaced. */
  digest: Type.String(),
  /** Entries of the page that were refused, and how many times in a row they were the same. */
  refused: Type.Optional(Type.Object({ digest: Type.String(), times: Type.Integer() })),
})
export type MonthState = Static<typeof MonthState>

const States = Type.Object({ rules: Type.Literal(rules), months: Type.Record(Type.String(), MonthState) })

export const digestOf = (entries: readonly Comeback[]): string =>
  createHash('sha256').update(JSON.stringify(entries)).digest('base64url')

/** Reads the entries published before: of the current snapshot, or if that is broken, the newest of the previous ones. */
export async function readStored(path: string, log: Log) {
  const published = await readPublished(path, comebacksDatabase, log)
  return {
    /** By month (`2024-02`), each in the order of the file. */
    months: groupBy(published?.entries ?? [], ({ date }) => date.slice(0, 7)),
    /** Its `last_update` in Unix milliseconds; undefined if nothing was published. */
    lastUpdate: published && published.lastUpdate * 1000,
  }
}

const stateFile = (dataDir: string): string => join(dataDir, 'kcomebacks.months.json')

/** The state by month; empty if none is stored or it is not valid, so that every month is read again. */
export async function readStates(dataDir: string): Promise<Map<string, MonthState>> {
  const stored = await readStateFile(stateFile(dataDir), States, maxStateBytes)
  return new Map(Object.entries(stored?.months ?? {}))
}

export async function writeStates(dataDir: string, states: ReadonlyMap<string, MonthState>): Promise<void> {
  const months = Object.fromEntries([...states].sort(([a], [b]) => (a < b ? -1 : 1)))
  await writeStateFile(stateFile(dataDir), { rules, months })
}
