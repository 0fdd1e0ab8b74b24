import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { isRecord } from '../game/protocol/is-record.ts'
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
  /** Place in the array of the file, where 0 is the element with `last_update`. */
  readonly position: number
  readonly reason: string
}

/** The first element of a snapshot. */
export interface SnapshotHead {
  readonly lastUpdate: LastUpdate
  /** True for the invented data of the package. */
  readonly sample: boolean
}

/** A snapshot as it was read. */
export interface LoadedSnapshot<Entry> extends SnapshotHead {
  readonly entries: readonly Entry[]
  readonly rejected: readonly Rejected[]
}

/** The text is not a snapshot; the message says why. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

/** Elements after which other work gets its turn. */
const yieldAfter = 100

/** Largest snapshot, as a file and over HTTP: a string of V8 holds about twice as much. */
export const maxSnapshotBytes = 256 * 1024 * 1024

/** Why a text is not a JSON array. The message of JSON.parse quotes the text, which may be anything. */
function reasonOf(text: string): string {
  if (text.trim() === '') return 'it is empty'
  try {
    JSON.parse(text)
    return 'it is not a JSON array'
  } catch {
    return 'it is not valid JSON, or cut off'
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
 * Reads a snapshot: a JSON array of `{"last_update": ...}` and entries. Other work of the process gets its turn in between.
 * @param add is called with each accepted entry in order, perhaps also before the text turns out not to be a snapshot
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
      // A piece may hold thousands of tiny elements, and finding out why one does not fit takes long.
      if (index % yieldAfter === yieldAfter - 1) await yieldToOthers()
    }
    position += elements.length
    await yieldToOthers()
  }
  return { ...(head ?? readHead(undefined)), rejected }
}

/** As elementsOf(), with an error that says what is wrong. */
function* batches(text: string): Generator<readonly unknown[]> {
  try {
    yield* elementsOf(text)
  } catch (error) {
    throw error instanceof SyntaxError ? new SnapshotError(reasonOf(text), { cause: error }) : error
  }
}

/** Reads a snapshot into a list, as scripts do before they publish one. */
export async function loadSnapshot<Entry>(
  text: string,
  format: SnapshotFormat<Entry>,
  today?: number,
): Promise<LoadedSnapshot<Entry>> {
  const entries: Entry[] = []
  const read = await readSnapshot(text, format, (entry) => entries.push(entry), today)
  return { ...read, entries }
}
