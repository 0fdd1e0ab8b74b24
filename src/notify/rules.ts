import type { LiveState } from '../live/state.ts'
import { playerChanges } from '../live/state-changes.ts'
import type { EventName, NotifiedEvent, TemplateValues } from './notification.ts'
import { endInUp, hasProblem, type Observation, type Problem, problems } from './observation.ts'
import type { ChannelSettings, NotifySettings } from './settings.ts'

/**
 * What a channel has been told about a server. Stored, so that each change is told once and none is lost by a restart. A problem that
 * lasts has the time at which it began, Unix milliseconds; null if it had already begun when the server was first observed.
 */
export interface Told extends Readonly<Partial<Record<Problem, number | null>>> {
  readonly version?: string
  readonly record?: number
  /** When the server went up or down last; absent if unknown. */
  readonly since?: number
  /** When the server was first seen down, if that is not told yet: after a restart it is still told as of then. */
  readonly downAt?: number
  /** When anything was told last. */
  readonly toldAt?: number
  /** When the server was first observed, if it had a problem then. */
  readonly firstSeenAt?: number
}

/** A change that is not told yet. */
interface Pending {
  /** Of the first observation: Unix and monotonic milliseconds. */
  readonly at: number
  readonly now: number
  polls: number
}

/** What a channel remembers of a server between observations. Lost by a restart. */
export interface Memory {
  pending: Partial<Record<Problem | 'version' | 'record', Pending>>
  players: LiveState['players']
}

export const createMemory = (): Memory => ({ pending: {}, players: null })

export interface Rule {
  readonly channel: Pick<ChannelSettings, 'events' | 'after' | 'for' | 'repeat' | 'minPause'>
  readonly settings: Pick<NotifySettings, 'restartGrace' | 'laggingBelow' | 'laggingFor' | 'troubleAfter'>
  /** Whether the event must not be told now. */
  readonly isQuiet: (event: EventName) => boolean
}

/** How long a problem must last before it is told, milliseconds. */
function minDuration(problem: Problem, { channel, settings }: Rule): number {
  if (problem === 'down') return Math.max(channel.for, settings.restartGrace)
  if (problem === 'lagging') return Math.max(channel.for, settings.laggingFor)
  return problem === 'trouble' ? Math.max(channel.for, settings.troubleAfter) : channel.for
}

const toSeconds = (ms: number): number => Math.max(0, Math.round(ms / 1_000))

/**
 * Compares what an observation shows with what a channel has been told. Each change must be shown by `after` consecutive polls and last for
 * some time; what is quiet or too soon is told later, if it still holds then.
 * @param told undefined at the first observation of the server, of which nothing is told
 * @param memory is changed
 * @returns what the channel will have been told, and the events to tell it; the same `told` if nothing has changed
 */
export function applyRule(
  rule: Rule,
  told: Told | undefined,
  memory: Memory,
  seen: Observation,
): { readonly told: Told; readonly drafts: readonly TemplateValues[] } {
  const { channel, settings } = rule
  const drafts: TemplateValues[] = []
  let next: Told = told ?? {}
  const isFirst = told === undefined
  // Nothing waits for a time in the future, after the clock was set back.
  const hasPassed = (ms: number, since: number) => seen.at < since || seen.at - since >= ms
  const canTell = (event: EventName) =>
    !rule.isQuiet(event) && (next.toldAt === undefined || drafts.length > 0 || hasPassed(channel.minPause, next.toldAt))

  const tell = (event: NotifiedEvent, at: number, duration: number | null, more: Partial<TemplateValues> = {}): void => {
    const { server, group, state } = seen
    drafts.push({ event, at, server, group, state: server === null ? null : state, duration, error: null, ...more })
    next = { ...next, toldAt: seen.at }
  }

  /** Counts the polls that show a change. Returns when it began, once there are enough of them. */
  const confirm = (name: keyof Memory['pending'], lastsMs: number): number | undefined => {
    const pending = memory.pending[name] ?? { at: seen.at, now: seen.now, polls: 0 }
    memory.pending[name] = pending
    if (seen.isPoll) pending.polls++
    return pending.polls >= channel.after && seen.now - pending.now >= lastsMs ? pending.at : undefined
  }

  const set = (problem: Problem, at: number | null | undefined): void => {
    delete memory.pending[problem]
    const { [problem]: _, ...rest } = next
    next = at === undefined ? rest : { ...rest, [problem]: at }
  }

  const wants = (...events: readonly EventName[]) => events.some((event) => channel.events.includes(event))

  function follow(problem: Problem): void {
    const holds = hasProblem(problem, seen, settings)
    const began = next[problem]
    const isTold = began !== undefined
    const endsInUp = endInUp.includes(problem)
    if (holds === undefined) {
      delete memory.pending[problem]
      // No player has been seen yet, so none can have been the last to leave.
      if (isFirst && problem === 'empty') set(problem, null)
      // Whoever is told that the server is down needs not be told of its other problems.
      if (problem !== 'down' && problem !== 'empty' && isTold && 'down' in next) set(problem, undefined)
      return
    }
    // A list of servers that cannot be read at the start is told.
    if (isFirst && seen.server !== null) {
      if (holds) {
        set(problem, null)
        next = { ...next, firstSeenAt: seen.at }
      }
      return
    }
    if (holds === isTold) {
      const pending = memory.pending[problem]
      delete memory.pending[problem]
      if (problem === 'down' && !holds && pending !== undefined && pending.polls >= channel.after) {
        const lasted = seen.now - pending.now
        if (lasted <= settings.restartGrace && wants('down', 'up') && canTell('up')) tell('restart', seen.at, toSeconds(lasted))
        next = { ...next, since: seen.at }
      }
      const { toldAt, firstSeenAt = 0 } = next
      // What was there first counts as told then, but must also last as long as anything that is told.
      const pause = toldAt === undefined ? Math.max(channel.repeat, minDuration(problem, rule)) : channel.repeat
      const isDue = channel.repeat > 0 && hasPassed(pause, toldAt ?? firstSeenAt)
      // An empty server is told again only if the last player was seen to leave.
      const isRepeated = problem !== 'empty' || began !== null
      if (holds && isDue && isRepeated && wants(problem) && canTell(problem))
        tell(problem, began ?? seen.at, began == null ? null : toSeconds(seen.at - began), problemError(problem))
      return
    }
    const at = confirm(problem, holds ? minDuration(problem, rule) : 0)
    if (at === undefined) return
    const event = holds ? problem : endsInUp ? 'up' : undefined
    const isWanted = event !== undefined && wants(event)
    if (isWanted && !canTell(event)) return
    const start = holds ? next.since : began
    set(problem, holds ? at : undefined)
    const error = holds ? problemError(problem) : { endOf: problem }
    if (isWanted) tell(event, at, endsInUp && start != null ? toSeconds(at - start) : null, error)
    if (problem === 'down') next = { ...next, since: at }
  }

  const problemError = (problem: Problem): Partial<TemplateValues> => ({
    error: problem === 'down' ? seen.error : problem === 'trouble' ? seen.trouble : null,
  })

  for (const problem of problems) {
    const isNeeded = wants(problem) || (endInUp.includes(problem) && wants('up'))
    if (isNeeded) follow(problem)
  }
  if (wants('version')) followVersion()
  if (wants('record')) followRecord()
  if (wants('join', 'leave')) followPlayers()
  return { told: withDownAt(next, 'down' in next ? undefined : memory.pending.down?.at), drafts }

  /** Tells a value that has changed; the first one that is known is only remembered. */
  function followValue(name: 'version' | 'record', isNew: boolean, toValue: () => Told | undefined): void {
    if (!isNew) {
      delete memory.pending[name]
      return
    }
    const isKnown = next[name] !== undefined
    const at = isKnown ? confirm(name, 0) : seen.at
    if (at === undefined || (isKnown && !canTell(name))) return
    const value = toValue()
    if (value === undefined) return
    delete memory.pending[name]
    next = { ...next, ...value }
    if (isKnown) tell(name, at, null)
  }

  function followVersion(): void {
    const { version } = seen.state
    followValue('version', version !== null && version !== next.version, () => (version === null ? undefined : { version }))
  }

  function followRecord(): void {
    const { online } = seen.state
    if (online === null) return
    const { record } = next
    followValue('record', record === undefined || online > record, () => {
      const before = record === undefined ? seen.record() : undefined
      return before === null ? undefined : { record: Math.max(online, before ?? 0) }
    })
  }

  function followPlayers(): void {
    const { players } = seen.state
    if (players === null) return
    const before = memory.players
    memory.players = players
    if (before === null || isFirst) return
    const { joined, left } = playerChanges(before, players)
    for (const [event, list] of [
      ['leave', left],
      ['join', joined],
    ] as const)
      for (const { NAME } of list) if (wants(event) && canTell(event)) tell(event, seen.at, null, { player: NAME })
  }
}

/** Returns the same `told` if that is its `downAt`. */
export function withDownAt(told: Told, downAt: number | undefined): Told {
  if (told.downAt === downAt) return told
  const { downAt: _, ...rest } = told
  return downAt === undefined ? rest : { ...rest, downAt }
}

/** Goes on with an outage that an earlier process, or another replica, has seen but not told. */
export function resumePending(memory: Memory, told: Told, { at, now }: Observation): void {
  // Of an earlier version, which keeps `downAt`, it may have been told.
  if (told.downAt === undefined || 'down' in told) return
  // The clock of the other replica may be ahead.
  const began = Math.min(told.downAt, at)
  memory.pending.down ??= { at: began, now: now - (at - began), polls: 0 }
}

/** What a server in maintenance, or one that is polled elsewhere, leaves in the memory: the next change is counted from then on. */
export function forgetPending(memory: Memory, state: LiveState): void {
  memory.pending = {}
  memory.players = state.players ?? memory.players
}
