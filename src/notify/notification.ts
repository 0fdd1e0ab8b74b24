import { randomUUID } from 'node:crypto'
import type { LiveState } from '../live/state.ts'
import { escapeControlsInLines } from '../util/escape-controls.ts'
import { formatDuration } from '../util/format-duration.ts'

/** The events that a channel can be told, with the default text of each. */
export const templates = {
  down: '{server} is down: {error}',
  up: '{server} is up again after {duration}',
  hung: '{server} is hung: it accepts connections, but its main thread does not answer',
  lagging: '{server} lags: {tickRate} ticks per second',
  full: '{server} is full: {online} of {max} players',
  empty: '{server} is empty',
  join: '{player} joined {server}',
  leave: '{player} left {server}',
  version: '{server} now runs {version}',
  record: '{server} has a new record: {online} players at once',
  trouble: '{server}: {error}',
} as const

/** The name of an event that a channel can be told. */
export type EventName = keyof typeof templates
export const eventNames = Object.keys(templates) as readonly EventName[]
/** A restart is told to channels that are told `down` or `up`. */
export type NotifiedEvent = EventName | 'restart'
export const notifiedEvents: readonly string[] = [...eventNames, 'restart']

/** Default texts of other cases. */
const restarted = '{server} restarted in {duration}'
const respondsAgain = '{server} responds again after {duration}'

/** What is told of one event. Stored until it is delivered. */
export interface Notification {
  /** The same at every attempt. */
  readonly id: string
  /** Unix milliseconds of the change. */
  readonly at: number
  readonly event: NotifiedEvent
  /** Null if the event is not about a server. */
  readonly server: string | null
  readonly group: string | null
  readonly text: string
  readonly error: string | null
  /** Seconds for which the state lasted that has ended; null if unknown. */
  readonly duration: number | null
  readonly state: LiveState | null
  /** Unix milliseconds at which it was queued. */
  readonly queuedAt: number
}

/** How bad events are, the worst first. */
export const severities = ['bad', 'warning', 'good', 'info'] as const

/** How bad an event is, for colours, priorities and what a message shows. */
export function severityOf(event: NotifiedEvent): (typeof severities)[number] {
  if (event === 'down' || event === 'hung') return 'bad'
  if (event === 'lagging' || event === 'full' || event === 'trouble') return 'warning'
  return event === 'up' || event === 'restart' ? 'good' : 'info'
}

/** What a template can contain. */
export interface TemplateValues extends Pick<Notification, 'at' | 'event' | 'server' | 'group' | 'error' | 'duration' | 'state'> {
  readonly player?: string
  /** The problem that `up` ends; default: `down`. */
  readonly endOf?: string
}

type Variable = (values: TemplateValues) => string | number | null | undefined

/** The variables of a template. */
export const variables = {
  server: ({ server }) => server ?? 'Tickwarden',
  group: ({ group }) => group,
  event: ({ event }) => event,
  error: ({ error }) => error,
  duration: ({ duration }) => (duration === null ? 'an unknown time' : formatDuration(duration)),
  time: ({ at }) => new Date(at).toISOString(),
  player: ({ player }) => player,
  online: ({ state }) => state?.online,
  max: ({ state }) => state?.max,
  version: ({ state }) => state?.version,
  motd: ({ state }) => state?.motd,
  tickRate: ({ state }) => state?.tickRate && Number(state.tickRate.toFixed(1)),
} satisfies Readonly<Record<string, Variable>>

const placeholder = /\{(\w+)\}/g

/** The names in braces that are not variables. */
export const unknownVariables = (template: string): readonly string[] =>
  [...template.matchAll(placeholder)].flatMap(([, name = '']) => (Object.hasOwn(variables, name) ? [] : [name]))

/** @param templates of the channel; the other events have their default text */
export function templateOf({ event, endOf }: TemplateValues, own: Readonly<Partial<Record<NotifiedEvent, string>>>): string {
  const otherwise = event === 'restart' ? restarted : event === 'up' && endOf === 'hung' ? respondsAgain : templates[event]
  return own[event] ?? otherwise
}

/** The variables whose values are from a game server or its players, not from the administrator. */
const foreign: readonly string[] = ['player', 'version', 'motd'] satisfies (keyof typeof variables)[]

/** @param quote see `ChannelType` */
export const renderTemplate = (template: string, values: TemplateValues, quote = (value: string) => value): string =>
  template.replace(placeholder, (_, name: string) => {
    const value = String((variables as Readonly<Record<string, Variable>>)[name]?.(values) ?? '')
    return foreign.includes(name) ? quote(value) : value
  })

/** Cuts a text off, never within a character. @param max UTF-16 code units */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(max - 2)) ? max - 2 : max - 1
  return `${text.slice(0, end)}…`
}

const maxText = 1_000
/** More than so many players are not listed: a thousand notifications of a large server, each with its list, would take hundreds of megabytes. */
const maxListed = 1_000

const withoutLongList = (state: LiveState): LiveState =>
  (state.players?.length ?? 0) > maxListed ? { ...state, players: null } : state

/** @param own templates of the channel @param now Unix milliseconds @param quote see `ChannelType` */
export function createNotification(
  own: Readonly<Partial<Record<NotifiedEvent, string>>>,
  values: TemplateValues,
  now: number,
  quote?: (value: string) => string,
): Notification {
  const { event, at, server, group, error, duration, state } = values
  const text = cut(escapeControlsInLines(renderTemplate(templateOf(values, own), values, quote)), maxText)
  return {
    ...{ id: randomUUID(), at, event, server, group, text, error, duration },
    ...{ state: state && withoutLongList(state), queuedAt: Math.round(now) },
  }
}

/** What is told instead of notifications for which there was no room. @param now Unix milliseconds */
export function describeDropped(count: number, now: number): Notification {
  const error = `${count} more ${count === 1 ? 'notification was' : 'notifications were'} dropped because too many were waiting`
  const nothing = { server: null, group: null, duration: null, state: null }
  return createNotification({}, { ...nothing, event: 'trouble', at: Math.round(now), error }, now)
}
