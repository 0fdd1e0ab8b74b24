import { type Check, isBoolean, isCount, isListOf, isNumber, isObject, isOneOf, isText, isTime } from '../game/check.ts'
import { type SourceErrorCode, sourceErrorCodes } from '../game/errors.ts'
import type { MainThread, ServerSnapshot, SourceState } from '../game/snapshot.ts'
import { sources } from '../game/sources/index.ts'
import type { SourceName } from '../game/sources/names.ts'
import type { RestingCommand } from '../game/sources/source.ts'

const isCode = isOneOf(...sourceErrorCodes)

export const isSourceName: Check<SourceName> = isOneOf(...sources.map(({ name }) => name))

export const isSourceState: Check<SourceState> = isObject<SourceState>(
  { source: isSourceName, target: isText, state: isOneOf('pending', 'ok', 'partial', 'failed') },
  {
    duration: isNumber,
    error: isObject<NonNullable<SourceState['error']>>({ code: isCode, message: isText }, {}),
    lastError: isObject<NonNullable<SourceState['lastError']>>({ code: isCode, message: isText, at: isTime }, {}),
    lastSuccess: isTime,
    resting: isListOf(isObject<RestingCommand>({ command: isText, until: isTime }, {})),
  },
)

type Polls = ServerSnapshot['polls']
const isOutcome: Check<'ok' | SourceErrorCode> = isOneOf('ok', ...sourceErrorCodes)

/** The counters that are valid. */
export function readPolls(value: object, dropped: (name: string) => void): Polls {
  const entries = Object.entries(value)
  const valid = entries.filter(([outcome, count]) => isOutcome(outcome) && isCount(count))
  if (valid.length === entries.length) return value
  dropped('polls')
  return Object.fromEntries(valid)
}

type Member = Exclude<keyof ServerSnapshot, 'server' | 'at' | 'fields' | 'sources' | 'polls'>

/** Checks of the members that a snapshot may lack, in the order of the snapshots of polls, so that all have the same shape in memory. */
export const memberChecks: { readonly [K in Member]: Check<NonNullable<ServerSnapshot[K]>> } = {
  demo: isOneOf(true as const),
  joins: isCount,
  leaves: isCount,
  up: isBoolean,
  knownUntil: isNumber,
  isStale: isOneOf(true as const),
  mainThread: isObject<MainThread>({ responsive: isBoolean }, { delay: isNumber }),
  lastContact: isObject<NonNullable<ServerSnapshot['lastContact']>>({ at: isNumber, wall: isTime }, {}),
  pollDuration: isNumber,
  lastPollAt: isTime,
}
