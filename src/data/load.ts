import { setImmediate as breathe } from 'node:timers/promises'
import { parseLastUpdate } from './dates.ts'

export type DatabaseName = 'projects' | 'kcomebacks'

/** What the entries of a database look like in a snapshot. */
export interface SnapshotFormat<Entry> {
  readonly database: DatabaseName
  /**
   * The entry that an element of the file holds, or why it holds none.
   * @param today day since 1970-01-01, given for sample data only
   */
  read(element: unknown, today?: number): Entry | string
}

export interface LastUpdate {
  /** As written: `YYYY-MM-DD HH:MM:SS UTC`. */
  readonly text: string
  /** Unix seconds. */
  readonly time: number
}

export interface Rejected {
  /** Place in the array of the file, where 0 is the element with `last_update`. */
  readonly position: number
  readonly reason: string
}

/** A snapshot file as it was read. */
export interface LoadedSnapshot<Entry> {
  readonly lastUpdate: LastUpdate
  /** Invented data that the package brings along. */
  readonly sample: boolean
  readonly entries: readonly Entry[]
  readonly rejected: readonly Rejected[]
}

/** The text is no snapshot at all; the message says why. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

/** Bytes of a snapshot at the most, as a file and over HTTP: a string of the engine holds no more than twice that. */
export const largestSnapshot = 256 * 1024 * 1024

/** Elements read before other work of the process gets its turn. */
const stride = 2000

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A list without its nulls; a missing list is an empty one. */
export const listOf = (value: unknown): unknown =>
  Array.isArray(value) ? (value.includes(null) ? value.filter((item) => item !== null) : value) : (value ?? [])

interface Validator<Entry> {
  Check(value: unknown): value is Entry
  Errors(value: unknown): readonly { readonly instancePath: string; readonly message: string }[]
}

/** The value itself if it fits, else the first reason why it does not. */
export function fitting<Entry>(validator: Validator<Entry>, value: unknown): Entry | string {
  if (validator.Check(value)) return value
  const [first] = validator.Errors(value)
  return first === undefined ? 'does not fit' : `${first.instancePath.slice(1) || 'the entry'} ${first.message}`
}

function parse(text: string): readonly unknown[] {
  let value: unknown
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch {
    // The engine's message quotes the text, which may be anything and of any length.
    throw new SnapshotError(text.trim() === '' ? 'it is empty' : 'it is not JSON, or cut off')
  }
  if (!Array.isArray(value)) throw new SnapshotError('it is not a JSON array')
  return value
}

function readHead(head: unknown): Pick<LoadedSnapshot<never>, 'lastUpdate' | 'sample'> {
  const given = isRecord(head) ? (head.last_update ?? head.updated) : undefined
  const time = typeof given === 'string' ? parseLastUpdate(given) : undefined
  if (!isRecord(head) || typeof given !== 'string' || time === undefined) {
    throw new SnapshotError('its first element is not {"last_update": "YYYY-MM-DD HH:MM:SS UTC"}')
  }
  return { lastUpdate: { text: given, time }, sample: head.sample === true }
}

/**
 * Reads a snapshot: a JSON array of `{"last_update": ...}` and entries. What does not fit is left out and listed.
 * @param today day since 1970-01-01 that the dates of sample data count from
 * @throws SnapshotError where the text is no snapshot
 */
export async function loadSnapshot<Entry>(
  text: string,
  format: SnapshotFormat<Entry>,
  today?: number,
): Promise<LoadedSnapshot<Entry>> {
  const elements = parse(text)
  const head = readHead(elements[0])
  const base = head.sample ? today : undefined
  const entries: Entry[] = []
  const rejected: Rejected[] = []
  for (let position = 1; position < elements.length; position++) {
    const entry = format.read(elements[position], base)
    if (typeof entry === 'string') rejected.push({ position, reason: entry })
    else entries.push(entry)
    if (position % stride === 0) await breathe()
  }
  return { ...head, entries, rejected }
}
