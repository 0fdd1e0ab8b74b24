import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isTime } from '../game/check.ts'
import { withLock } from '../util/file-lock.ts'
import { readTextIfExists, writeAtomic } from '../util/files.ts'
import { isRecord } from '../util/is-record.ts'
import { parseJson, parseJsonIfValid } from '../util/json.ts'
import type { Occurrence } from './window.ts'

/**
 * What is stored of the maintenance of servers: windows that were started at run time, ends of windows, and windows of the configuration that
 * have begun, for the uptime. Records are only added, so that those of several replicas can be joined.
 */
export type MaintenanceRecord = {
  readonly id: string
  /** The ids of starts and ends whose time is later, although they were before: the clock was set back. Absent if there is none. */
  readonly follows?: readonly string[]
} & (
  | ({ readonly kind: 'start' | 'planned' } & Occurrence)
  | { readonly kind: 'end'; readonly servers: readonly string[]; readonly at: number }
)

export type End = Extract<MaintenanceRecord, { readonly kind: 'end' }>
export type Start = Exclude<MaintenanceRecord, End>

export const fileName = 'maintenance.json'
const maxBytes = 16 * 1024 * 1024
/** Records are kept for as long as the uptime shows days. */
const keptMs = 400 * 86_400_000

export const newRecordId = (): string => randomUUID()

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** Returns undefined for anything that is not a record. */
export function toRecord(value: unknown): MaintenanceRecord | undefined {
  if (!isRecord(value) || typeof value.id !== 'string' || !isTexts(value.servers)) return undefined
  if (value.follows !== undefined && !isTexts(value.follows)) return undefined
  const isEnd = value.kind === 'end' && isTime(value.at)
  const isStart =
    (value.kind === 'start' || value.kind === 'planned') &&
    isTime(value.from) &&
    isTime(value.to) &&
    typeof value.reason === 'string'
  return isEnd || isStart ? (value as unknown as MaintenanceRecord) : undefined
}

/** Returns undefined for anything that is not the JSON of a record. */
export const recordFromText = (text: string): MaintenanceRecord | undefined => toRecord(parseJsonIfValid(text))

const timeOf = (record: MaintenanceRecord): number => (record.kind === 'end' ? record.at : record.from)

/** Returns a new record, with which of the known ones it follows. */
export function addFollowed(record: MaintenanceRecord, known: readonly MaintenanceRecord[]): MaintenanceRecord {
  const ids = known.flatMap((one) => (timeOf(one) >= timeOf(record) ? one.id : []))
  return ids.length === 0 ? record : { ...record, follows: [...new Set([...(record.follows ?? []), ...ids])] }
}

/** Whether an end, if it is of the same server, ends what was started. */
export const isEndOf = (end: End, start: Start): boolean =>
  start.follows?.includes(end.id) !== true &&
  (end.follows?.includes(start.id) === true || (end.at >= start.from && end.at < start.to))

export const isKept = (record: MaintenanceRecord, now: number): boolean =>
  (record.kind === 'end' ? record.at : record.to) > now - keptMs

/** @throws Error if the file exists and cannot be read, or is not valid JSON */
export async function readRecords(folder: string): Promise<readonly MaintenanceRecord[]> {
  const text = await readTextIfExists(join(folder, fileName), maxBytes)
  const values = text === undefined ? [] : parseJson(text)
  return Array.isArray(values) ? values.flatMap((value) => toRecord(value) ?? []) : []
}

type Records = readonly MaintenanceRecord[]

/** Adds what `make` returns for the stored records to them, in the file that the service and commands write. */
function add<Added extends Records>(folder: string, now: number, make: (known: Records) => Added): Promise<Added> {
  const path = join(folder, fileName)
  return withLock(`${path}.lock`, async () => {
    const known = await readRecords(folder)
    const added = make(known)
    const all = new Map([...known, ...added].map((record) => [record.id, record]))
    await writeAtomic(path, `${JSON.stringify([...all.values()].filter((record) => isKept(record, now)))}\n`)
    return added
  })
}

/** Adds records of this process or other replicas as they are. @throws Error of the system */
export async function addRecords(folder: string, records: Records, now: number): Promise<void> {
  await add(folder, now, () => records)
}

/**
 * Adds the record of a command, with which of the stored ones it follows.
 * @returns the record as stored
 * @throws Error of the system
 */
export async function addNewRecord(folder: string, record: MaintenanceRecord, now: number): Promise<MaintenanceRecord> {
  const [added] = await add(folder, now, (known) => [addFollowed(record, known)] as const)
  return added
}
