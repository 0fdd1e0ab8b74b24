import { setImmediate as breathe } from 'node:timers/promises'
import { isRecord } from '../game/protocol/is-record.ts'
import { parseLastUpdate } from './dates.ts'
import { elementsOf } from './elements.ts'

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

/** What a snapshot says of itself. */
export interface SnapshotHead {
  readonly lastUpdate: LastUpdate
  /** Invented data that the package brings along. */
  readonly sample: boolean
}

/** A snapshot as it was read. */
export interface LoadedSnapshot<Entry> extends SnapshotHead {
  readonly entries: readonly Entry[]
  readonly rejected: readonly Rejected[]
}

/** The text is no snapshot at all; the message says why. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

/** Elements after which other work has its turn. */
const turn = 100

/** Bytes of a snapshot at the most, as a file and over HTTP: a string of the engine holds no more than twice that. */
export const largestSnapshot = 256 * 1024 * 1024

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

/** Why a text is no JSON array. The engine's message quotes the text, which may be anything and of any length. */
function reasonOf(text: string): string {
  if (text.trim() === '') return 'it is empty'
  try {
    JSON.parse(text)
    return 'it is not a JSON array'
  } catch {
    return 'it is not JSON, or cut off'
  }
}

function readHead(head: unknown): SnapshotHead {
  const given = isRecord(head) ? (head.last_update ?? head.updated) : undefined
  const time = typeof given === 'string' ? parseLastUpdate(given) : undefined
  if (!isRecord(head) || typeof given !== 'string' || time === undefined) {
    throw new SnapshotError('its first element is not {"last_update": "YYYY-MM-DD HH:MM:SS UTC"}')
  }
  return { lastUpdate: { text: given, time }, sample: head.sample === true }
}

/**
 * Reads a snapshot: a JSON array of `{"last_update": ...}` and entries. Other work of the process has its turn in between.
 * @param add is given each entry that fits, in order; of a text that turns out to be no snapshot some may have been given
 * @param today day since 1970-01-01 that the dates of sample data count from
 * @returns the head, and what does not fit
 * @throws SnapshotError where the text is no snapshot
 */
export async function readSnapshot<Entry>(
  text: string,
  format: SnapshotFormat<Entry>,
  add: (entry: Entry) => void,
  today?: number,
): Promise<SnapshotHead & { readonly rejected: readonly Rejected[] }> {
  let head: SnapshotHead | undefined
  const rejected: Rejected[] = []
  let position = 0
  for (const elements of batches(text)) {
    head ??= readHead(elements[0])
    for (let index = position === 0 ? 1 : 0; index < elements.length; index++) {
      const entry = format.read(elements[index], head.sample ? today : undefined)
      if (typeof entry === 'string') rejected.push({ position: position + index, reason: entry })
      else add(entry)
      // A piece may hold thousands of tiny elements, and to say why one does not fit takes long.
      if (index % turn === turn - 1) await breathe()
    }
    position += elements.length
    await breathe()
  }
  return { ...(head ?? readHead(undefined)), rejected }
}

/** As elementsOf(), with an error that says what is wrong. */
function* batches(text: string): Generator<readonly unknown[]> {
  try {
    yield* elementsOf(text)
  } catch (error) {
    throw error instanceof SyntaxError ? new SnapshotError(reasonOf(text)) : error
  }
}

/** Reads a snapshot into a list: for who wants to look at one, such as a script before it puts it in place. */
export async function loadSnapshot<Entry>(
  text: string,
  format: SnapshotFormat<Entry>,
  today?: number,
): Promise<LoadedSnapshot<Entry>> {
  const entries: Entry[] = []
  const read = await readSnapshot(text, format, (entry) => entries.push(entry), today)
  return { ...read, entries }
}
