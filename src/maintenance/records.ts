import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isTime } from '../game/check.ts'
import { withLock } from '../util/file-lock.ts'
import { readTextIfExists, writeAtomic } from '../util/files.ts'
import { isRecord } from '../util/is-record.ts'
import { parseJson } from '../util/json.ts'
import type { Occurrence } from './window.ts'

/**
 * What is stored of the maintenance of servers: windows that were started at run time, ends of windows, and windows of the configuration that
 * have begun, for the uptime. Records are only added, so that those of several replicas can be joined.
 */
export type MaintenanceRecord = { readonly id: string } & (
  | ({ readonly kind: 'start' | 'planned' } & Occurrence)
  | { readonly kind: 'end'; readonly servers: readonly string[]; readonly at: number }
)

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
  const isEnd = value.kind === 'end' && isTime(value.at)
  const isStart =
    (value.kind === 'start' || value.kind === 'planned') &&
    isTime(value.from) &&
    isTime(value.to) &&
    typeof value.reason === 'string'
  return isEnd || isStart ? (value as unknown as MaintenanceRecord) : undefined
}

export const isKept = (record: MaintenanceRecord, now: number): boolean =>
  (record.kind === 'end' ? record.at : record.to) > now - keptMs

/** @throws Error if the file exists and cannot be read, or is not valid JSON */
export async function readRecords(folder: string): Promise<readonly MaintenanceRecord[]> {
  const text = await readTextIfExists(join(folder, fileName), maxBytes)
  const values = text === undefined ? [] : parseJson(text)
  return Array.isArray(values) ? values.flatMap((value) => toRecord(value) ?? []) : []
}

/**
 * Adds records to the file, which the service and commands write.
 * @throws Error of the system
 */
export async function addRecords(folder: string, records: readonly MaintenanceRecord[], now: number): Promise<void> {
  const path = join(folder, fileName)
  await withLock(`${path}.lock`, async () => {
    const all = new Map([...(await readRecords(folder)), ...records].map((record) => [record.id, record]))
    await writeAtomic(path, `${JSON.stringify([...all.values()].filter((record) => isKept(record, now)))}\n`)
  })
}
