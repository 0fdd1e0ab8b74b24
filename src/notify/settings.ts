import { baseUrl, duration, type Kind, oneOf, timezone } from '../settings/kinds/index.ts'
import { TreeReader } from '../settings/tree-reader.ts'
import { decodePart, parseUrl } from '../util/parse-url.ts'
import { isMap, type Tree } from '../util/yaml.ts'
import type { ChannelType, ChannelValues } from './channels/channel.ts'
import { channelTypes } from './channels/index.ts'
import { type EventName, eventNames, type NotifiedEvent, notifiedEvents, unknownVariables, variables } from './notification.ts'
import { parseTimeOfDay, type QuietHours } from './quiet-hours.ts'

/** One channel. Durations are milliseconds. */
export interface ChannelSettings {
  readonly name: string
  readonly type: ChannelType
  readonly values: ChannelValues
  readonly events: readonly EventName[]
  /** Patterns of names of servers and groups; empty: all. */
  readonly servers: readonly string[]
  /** Patterns of names of groups; empty: all. */
  readonly groups: readonly string[]
  /** Consecutive polls that must agree. */
  readonly after: number
  /** How long a state must last before it is told. */
  readonly for: number
  /** How often a state that lasts is told again; 0: never. */
  readonly repeat: number
  /** Minimum time between two notifications of one server. */
  readonly minPause: number
  /** By event; the others have their default. */
  readonly templates: Readonly<Partial<Record<NotifiedEvent, string>>>
  /** Whether the channel has a message that shows the state of all servers. */
  readonly statusMessage: boolean
}

export interface NotifySettings {
  readonly channels: readonly ChannelSettings[]
  readonly allowPrivate: boolean
  /** A server that is up again within so many milliseconds has restarted; 0: each outage is told. */
  readonly restartGrace: number
  /** A server lags below this part of its target tick rate, for so many milliseconds. */
  readonly laggingBelow: number
  readonly laggingFor: number
  /** Milliseconds for which a source or a list of servers must have failed. */
  readonly troubleAfter: number
  readonly quietHours?: QuietHours
  readonly publicUrl?: string
}

const maxChannels = 50
const notifyKeys = [
  'allowPrivate',
  'restartGrace',
  'laggingBelow',
  'laggingFor',
  'troubleAfter',
  'publicUrl',
  'quietHours',
  'channels',
]
const quietKeys = ['from', 'to', 'timezone', 'except']
const commonKeys = [
  ...['type', 'name', 'events', 'servers', 'groups', 'after', 'for', 'repeat', 'minPause', 'template', 'statusMessage'],
]
const defaultEvents: readonly EventName[] = ['down', 'up', 'hung']

const names: Kind<string> = {
  expected: '1 to 40 letters, digits and - . _',
  parse: (given) => (/^[\w.-]{1,40}$/.test(given) ? given : undefined),
}
const count: Kind<number> = {
  expected: 'an integer from 1 to 100',
  parse: (given) => (/^([1-9]\d?|100)$/.test(given) ? Number(given) : undefined),
}
const part: Kind<number> = {
  expected: 'a number from 0.01 to 1, such as 0.9',
  parse: (given) => (/^(0?\.\d{1,6}|1(\.0)?)$/.test(given) && Number(given) >= 0.01 ? Number(given) : undefined),
}
const timeOfDay: Kind<number> = { expected: 'a time such as "23:00"', parse: parseTimeOfDay }
const upToAWeek = duration('0s', '7d')

const eventList = (reader: TreeReader, key: string): readonly EventName[] => {
  const events = reader.names(key)
  for (const event of events)
    if (!eventNames.includes(event as EventName))
      reader.fail(key, `"${event.slice(0, 60)}" is not an event; expected some of ${eventNames.join(', ')}`)
  return [...new Set(events)] as readonly EventName[]
}

function readTemplates(reader: TreeReader): ChannelSettings['templates'] {
  const given = reader.get('template')
  if (given === null) return {}
  const texts = isMap(given) ? [...given] : notifiedEvents.map((event): readonly [string, Tree] => [event, given])
  const templates: Record<string, string> = {}
  const problems = new Set<string>()
  for (const [event, template] of texts) {
    if (!notifiedEvents.includes(event))
      problems.add(`"${event.slice(0, 60)}" is not an event; expected some of ${notifiedEvents.join(', ')}`)
    else if (typeof template !== 'string' || template.trim() === '')
      problems.add('expected a text, or a text for each event, such as { down: "{server} is down" }')
    else {
      templates[event] = template
      for (const name of unknownVariables(template))
        problems.add(`{${name}} is not a variable; expected some of ${Object.keys(variables).join(', ')}`)
    }
  }
  for (const problem of problems) reader.fail('template', problem)
  return templates
}

function readChannel(tree: Tree, place: string, problems: string[]): ChannelSettings | undefined {
  if (!isMap(tree)) {
    problems.push(`${place}: expected a channel, such as { type: webhook, name: ops, url: "https://example.org/hook" }`)
    return undefined
  }
  const typeNames = channelTypes.map(({ type }) => type)
  const type = channelTypes.find((one) => one.type === tree.get('type'))
  const keys = Object.entries(type?.keys ?? {})
  const known =
    type === undefined ? [...tree.keys()] : keys.flatMap(([key, { isSecret }]) => (isSecret ? [key, `${key}File`] : [key]))
  const reader = new TreeReader(tree, place, [...commonKeys, ...known], problems)
  reader.value('type', oneOf(...typeNames), true)
  const name = reader.value('name', names, true)
  const values = Object.fromEntries(
    keys.map(([key, { kind, isSecret, isRequired }]) => [
      key,
      isSecret ? reader.secret(key, kind, isRequired) : reader.value(key, kind, isRequired),
    ]),
  )
  const unused = type?.findUnused?.(values)
  if (unused !== undefined) reader.fail(...unused)
  const statusMessage = reader.boolean('statusMessage', false)
  if (statusMessage && type !== undefined && !type.hasStatusMessage) {
    const having = channelTypes.filter(({ hasStatusMessage }) => hasStatusMessage).map(({ type }) => type)
    reader.fail('statusMessage', `only channels of type ${having.join(', ')} have a status message`)
  }
  const hasEvents = reader.get('events') !== null
  const events = eventList(reader, 'events')
  if (hasEvents && events.length === 0 && !statusMessage)
    reader.fail('events', `expected at least one of ${eventNames.join(', ')}`)
  const settings = {
    events: hasEvents ? events : statusMessage ? [] : defaultEvents,
    ...{ servers: reader.patterns('servers'), groups: reader.patterns('groups') },
    ...{ statusMessage, templates: readTemplates(reader) },
    after: reader.value('after', count) ?? 2,
    for: reader.value('for', upToAWeek) ?? 0,
    repeat: reader.value('repeat', upToAWeek) ?? 0,
    minPause: reader.value('minPause', upToAWeek) ?? 0,
  }
  if (type === undefined || name === undefined) return undefined
  return { name, type, values, ...settings }
}

function readQuietHours(tree: Tree, place: string, problems: string[]): QuietHours | undefined {
  if (tree === null) return undefined
  if (!isMap(tree)) {
    problems.push(`${place}: expected the hours, such as { from: "23:00", to: "07:00", timezone: Europe/Berlin }`)
    return undefined
  }
  const reader = new TreeReader(tree, place, quietKeys, problems)
  const [from, to] = [reader.value('from', timeOfDay, true), reader.value('to', timeOfDay, true)]
  const zone = reader.value('timezone', timezone) ?? 'UTC'
  const except = eventList(reader, 'except')
  if (from !== undefined && from === to) reader.fail('to', 'it is the same as from; expected another time')
  return from === undefined || to === undefined ? undefined : { from, to, timezone: zone, except }
}

/**
 * Reads the value of `notify` in the config file.
 * @param path of the file, for messages
 * @param problems receives every mistake
 */
export function readNotify(tree: Tree, path: string, problems: string[]): NotifySettings | undefined {
  if (tree === null) return undefined
  const place = `${path}: notify`
  if (!isMap(tree)) {
    problems.push(
      `${place}: expected its settings, such as channels: [{ type: webhook, name: ops, url: "https://example.org/hook" }]`,
    )
    return undefined
  }
  const reader = new TreeReader(tree, place, notifyKeys, problems)
  const given = reader.get('channels')
  const isList = Array.isArray(given) && given.length <= maxChannels
  if (given !== null && !isList) reader.fail('channels', `expected a list of at most ${maxChannels} channels`)
  const channels = (isList ? (given as readonly Tree[]) : []).map((channel, index) =>
    readChannel(channel, `${place}.channels[${index}]`, problems),
  )
  const found = channels.filter((channel) => channel !== undefined)
  const seen = new Set<string>()
  for (const { name } of found) {
    // Each has a file, and some file systems ignore case.
    if (seen.has(name.toLowerCase())) reader.fail('channels', `two channels have the name "${name}"; names must be unique`)
    seen.add(name.toLowerCase())
  }
  const quietHours = readQuietHours(reader.get('quietHours'), `${place}.quietHours`, problems)
  const publicUrl = reader.value('publicUrl', baseUrl('https:', 'http:'))
  return {
    channels: found,
    allowPrivate: reader.boolean('allowPrivate', false),
    restartGrace: reader.value('restartGrace', duration('0s', '1h')) ?? 120_000,
    laggingBelow: reader.value('laggingBelow', part) ?? 0.9,
    laggingFor: reader.value('laggingFor', upToAWeek) ?? 60_000,
    troubleAfter: reader.value('troubleAfter', upToAWeek) ?? 600_000,
    ...(publicUrl !== undefined && { publicUrl: publicUrl.replace(/\/?$/, '/') }),
    ...(quietHours && { quietHours }),
  }
}

/** Every secret of the channels: whoever knows the URL of a webhook can use it. */
export const secretsOfNotify = ({ channels }: NotifySettings): readonly string[] =>
  channels.flatMap(({ type, values }) =>
    Object.entries(type.keys).flatMap(([key, { isSecret }]) => {
      const value = values[key]
      if (!isSecret || value === undefined) return []
      const parsed = parseUrl(value)
      if (parsed === undefined) return [value]
      const { pathname, search, password } = parsed
      return [pathname.length > 8 ? pathname : '', search, decodePart(password)].filter((secret) => secret !== '')
    }),
  )
