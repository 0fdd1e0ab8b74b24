import type { ParseError } from 'jsonc-parser'
import { isRecord, valueAt } from '../../util/is-record.ts'
import { NestingError, parseJson } from '../../util/json.ts'
import { createPauses } from '../../util/pauses.ts'
import type { EntryNote } from '../routes/schemas.ts'
import { formatLastUpdate, parseDay, parseLastUpdate } from './dates.ts'
import type { SnapshotFormat } from './fields.ts'

export interface LoadedSnapshot<Entry> {
  /** Unix seconds. */
  readonly lastUpdate: number
  /** The valid entries, including hidden ones. */
  readonly entries: readonly Entry[]
  readonly rejected: readonly EntryNote[]
  /** Something unusual in accepted entries; the first {@link maxWarnings}. */
  readonly warnings: readonly EntryNote[]
}

/** The text is not a valid snapshot; the message is the reason. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}

const maxWarnings = 100

/**
 * Maximum size of a snapshot, in a file and over HTTP: over a hundred thousand entries. It is parsed in one piece, which holds the event
 * loop for about a second per 200 MB.
 */
export const maxSnapshotBytes = 32 * 1024 * 1024

/** Maximum length of a text in which the first mistake is searched, which takes longer than parsing. */
const maxExplained = 16 * 1024 * 1024

const advice: Readonly<Record<string, string>> = {
  ValueExpected: 'expected a value; is there a comma too many?',
  PropertyNameExpected: 'expected a name in double quotes; is there a comma too many?',
  CommaExpected: 'expected a comma',
  ColonExpected: 'expected a colon',
  CloseBraceExpected: 'expected a comma or }',
  CloseBracketExpected: 'expected a comma or ]',
  InvalidCommentToken: 'comments are not allowed',
  EndOfFileExpected: 'expected nothing after the end of the list',
}

/** Where a text stops being JSON: `line 3, column 5: ...`. Undefined if it is only truncated, or not JSON at all. */
async function firstMistake(text: string): Promise<string | undefined> {
  const errors: ParseError[] = []
  if (text.length > maxExplained || !/^\s*[[{]/.test(text)) return undefined
  // Loaded only for a text that is not valid.
  const { parse, printParseErrorCode } = await import('jsonc-parser')
  parse(text, errors, { disallowComments: true, allowTrailingComma: false })
  const [first] = errors
  if (first === undefined || first.offset >= text.trimEnd().length) return undefined
  const before = text.slice(0, first.offset)
  const line = before.split('\n').length
  const name = printParseErrorCode(first.error)
  return `line ${line}, column ${first.offset - before.lastIndexOf('\n')}: ${advice[name] ?? 'this is not JSON'}`
}

/** @throws SnapshotError with the reason, and where the text has its first mistake */
async function parseText(text: string): Promise<unknown> {
  const bare = text.replace(/^\uFEFF/, '')
  try {
    return parseJson(bare)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const fail = (reason: string) => new SnapshotError(reason, { cause: error })
    if (bare.trim() === '') throw fail('it is empty')
    if (error instanceof NestingError) throw fail(`it is ${error.message}`)
    if (bare.includes('\0')) throw fail('it is not valid JSON: it has NUL characters; is it UTF-16 instead of UTF-8?')
    const mistake = await firstMistake(bare)
    throw fail(mistake === undefined ? 'it is not valid JSON, or truncated' : `it is not valid JSON (${mistake})`)
  }
}

/** Date.parse() would accept 30 February. */
const isIsoTime = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/.test(text) &&
  parseDay(text.slice(0, 10)) !== undefined

/** In Unix seconds. @param isPlain whether it may also be an ISO 8601 time */
function readLastUpdate(given: unknown, isPlain: boolean): number {
  const text = typeof given === 'string' ? given : ''
  const iso = isPlain && isIsoTime(text) ? Math.floor(Date.parse(text) / 1000) : Number.NaN
  // In UTC, a time may be in another year, which may not have four digits.
  const time = parseLastUpdate(text) ?? (Number.isNaN(iso) ? undefined : parseLastUpdate(formatLastUpdate(iso)))
  if (time !== undefined) return time
  if (isPlain) throw new SnapshotError('its last_update is not a time such as 2026-11-22T10:00:00Z')
  throw new SnapshotError('its first element is not {"last_update": "YYYY-MM-DD HH:MM:SS UTC"}')
}

interface Elements {
  readonly lastUpdate: number
  readonly elements: readonly unknown[]
  readonly first: number
}

/** A list whose first element has `last_update`. */
function readList(value: unknown): Elements {
  if (!Array.isArray(value)) throw new SnapshotError('it is not a JSON array')
  const head: unknown = value[0]
  const given = valueAt(head, 'last_update') ?? valueAt(head, 'updated')
  return { lastUpdate: readLastUpdate(given, false), elements: value, first: 1 }
}

/** A list of entries, with or without `last_update`, or an object with both. @param now Unix seconds */
function readPlain(value: unknown, now: number): Elements {
  const elements = isRecord(value) ? value.entries : value
  if (!Array.isArray(elements)) throw new SnapshotError('it is neither a JSON array nor {"last_update": ..., "entries": [...]}')
  const [head] = elements as readonly unknown[]
  const first = elements === value && isRecord(head) && Object.keys(head).join() === 'last_update' ? 1 : 0
  const given = valueAt(first === 1 ? head : value, 'last_update')
  return { lastUpdate: given === undefined ? now : readLastUpdate(given, true), elements, first }
}

/**
 * Parses a snapshot. Yields to other work regularly.
 * @param plainAt Unix milliseconds of now, if it may also be a list without `last_update`, or an object with `entries`
 * @throws SnapshotError if the text is not a snapshot
 */
export async function loadSnapshot<Entry>(
  text: string,
  format: SnapshotFormat<Entry>,
  plainAt?: number,
): Promise<LoadedSnapshot<Entry>> {
  const value = await parseText(text)
  const { elements, first, lastUpdate } = plainAt === undefined ? readList(value) : readPlain(value, Math.floor(plainAt / 1000))
  /** Decoding replaced what is not UTF-8 by this character. */
  const isGarbled = text.includes('\ufffd')
  const pauses = createPauses()
  const entries: Entry[] = []
  const rejected: EntryNote[] = []
  const warnings: EntryNote[] = []
  for (let position = first; position < elements.length; position++) {
    const warn = (reason: string) => {
      if (warnings.length < maxWarnings) warnings.push({ position, reason })
    }
    const entry = format.read(elements[position], warn)
    if (typeof entry === 'string') rejected.push({ position, reason: entry })
    else entries.push(entry)
    if (isGarbled && JSON.stringify(elements[position]).includes('\ufffd'))
      warn('contains the character U+FFFD: the snapshot may not be UTF-8')
    if (pauses.isDue()) await pauses.take()
  }
  return { lastUpdate, entries, rejected, warnings }
}
