import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { isRecord } from '../../util/is-record.ts'
import { NestingError } from '../../util/json.ts'
import { parseLastUpdate } from './dates.ts'
import { elementsOf } from './elements.ts'
import type { SnapshotFormat } from './snapshot-format.ts'

export interface LastUpdate {
  /** As written: `YYYY-MM-DD HH:MM:SS UTC`. */
  readonly text: string
  /** Unix seconds. */
  readonly time: number
}

export interface Rejected {
  /** Index in the array of the file; 0 is the element with `last_update`. */
  readonly position: number
  readonly reason: string
}

/** The first element of a snapshot. */
export interface SnapshotHead {
  readonly lastUpdate: LastUpdate
  /** True for the invented sample data of the package. */
  readonly sample: boolean
}

/** A parsed snapshot. */
export interface LoadedSnapshot<Entry> extends SnapshotHead {
  readonly entries: readonly Entry[]
  readonly rejected: readonly Rejected[]
}

/** The text is not a valid snapshot; the message is the reason. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

/** Elements after which the parser yields to other work. */
const yieldAfter = 100

/** Maximum size of a snapshot, in a file and over HTTP, about half of what a V8 string can hold. */
export const maxSnapshotBytes = 256 * 1024 * 1024

/** Why a text is not a JSON array. Does not parse it again, because a large text would block everything else for seconds. */
function reasonOf(text: string, error: SyntaxError): string {
  const trimmed = text.trim()
  if (trimmed === '') return 'it is empty'
  if (error instanceof NestingError) return `it is ${error.message}`
  const isOther =
    (trimmed.startsWith('{') && trimmed.endsWith('}')) || /^(?:null|true|false|[\d.eE+-]{1,30}|"[^"]{0,100}")$/.test(trimmed)
  return isOther ? 'it is not a JSON array' : 'it is not valid JSON, or truncated'
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
 * Parses a snapshot: a JSON array of `{"last_update": ...}` and entries. Yields to other work regularly.
 * @param add called with each valid entry in order, possibly before the text proves not to be a snapshot
 * @param today days since 1970-01-01 that the dates of sample data are relative to
 * @returns the head and the rejected elements
 * @throws SnapshotError if the text is not a snapshot
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
      // A batch may contain thousands of tiny elements, and finding out why one is not valid takes long.
      if (index % yieldAfter === yieldAfter - 1) await yieldToOthers()
    }
    position += elements.length
    await yieldToOthers()
  }
  return { ...(head ?? readHead(undefined)), rejected }
}

/** elementsOf() with a SnapshotError that has the reason. */
function* batches(text: string): Generator<readonly unknown[]> {
  try {
    yield* elementsOf(text)
  } catch (error) {
    throw error instanceof SyntaxError ? new SnapshotError(reasonOf(text, error), { cause: error }) : error
  }
}

/** Parses a snapshot into an array, for scripts. */
export async function loadSnapshot<Entry>(
  text: string,
  format: SnapshotFormat<Entry>,
  today?: number,
): Promise<LoadedSnapshot<Entry>> {
  const entries: Entry[] = []
  const read = await readSnapshot(text, format, (entry) => entries.push(entry), today)
  return { ...read, entries }
}
