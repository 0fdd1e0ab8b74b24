import { describe, expect, it } from 'vitest'
import {
  createNotification,
  describeDropped,
  eventNames,
  type NotifiedEvent,
  renderTemplate,
  severityOf,
  type TemplateValues,
  templateOf,
  unknownVariables,
} from '../../src/notify/notification.ts'

const state = {
  ...{ up: true, online: 3, max: 20, players: null, version: '1.21.11', software: null, motd: 'Hello', tickRate: 18.04 },
  ...{ tickTimeMean: null, tickTimeP99: null, paused: null, frozen: null, responsive: true, latency: null, maintenance: null },
}
const values = (event: NotifiedEvent, more: Partial<TemplateValues> = {}): TemplateValues => ({
  ...{
    event,
    at: 1_800_000_000_000,
    server: 'lobby',
    group: 'eu',
    error: 'refused',
    duration: 300,
    state,
    player: 'Alex',
    ...more,
  },
})
const textOf = (given: TemplateValues) => renderTemplate(templateOf(given, {}), given)

it.each<[NotifiedEvent, string]>([
  ['down', 'lobby is down: refused'],
  ['up', 'lobby is up again after 5 min'],
  ['restart', 'lobby restarted in 5 min'],
  ['hung', 'lobby is hung: it accepts connections, but its main thread does not answer'],
  ['lagging', 'lobby lags: 18 ticks per second'],
  ['full', 'lobby is full: 3 of 20 players'],
  ['empty', 'lobby is empty'],
  ['join', 'Alex joined lobby'],
  ['leave', 'Alex left lobby'],
  ['version', 'lobby now runs 1.21.11'],
  ['record', 'lobby has a new record: 3 players at once'],
  ['trouble', 'lobby: refused'],
])('%s is told as %j', (event, text) => expect(textOf(values(event))).toBe(text))

it('tells the end of being hung, and what is unknown', () => {
  expect(textOf(values('up', { endOf: 'hung' }))).toBe('lobby responds again after 5 min')
  expect(textOf(values('up', { endOf: 'down', duration: null }))).toBe('lobby is up again after an unknown time')
  expect(textOf(values('trouble', { server: null }))).toBe('Tickwarden: refused')
  expect(textOf(values('lagging', { state: { ...state, tickRate: null } }))).toBe('lobby lags:  ticks per second')
  expect(textOf(values('full', { state: null }))).toBe('lobby is full:  of  players')
  const ofState = values('down', { state: null })
  expect(renderTemplate('{version}{motd}{tickRate}', ofState)).toBe('')
  expect(textOf(values('down', { endOf: 'hung' }))).toBe('lobby is down: refused')
})

it('keeps the state, without a list of more than 1,000 players', () => {
  const withPlayers = (count: number) => ({
    ...state,
    players: Array.from({ length: count }, (_, index) => ({ ID: '', NAME: `p${index}` })),
  })
  const kept = (given: TemplateValues['state']) => createNotification({}, values('down', { state: given }), 1_000.4)
  expect(kept(null)).toMatchObject({ state: null, queuedAt: 1_000 })
  for (const given of [state, withPlayers(1_000)]) expect(kept(given).state).toEqual(given)
  expect(kept(withPlayers(1_001)).state).toEqual(state)
})

it('tells how many notifications were dropped', () => {
  const about = { event: 'trouble', at: 5, server: null, group: null, duration: null, state: null, queuedAt: 5 }
  const one = '1 more notification was dropped because too many were waiting'
  expect(describeDropped(1, 5.2)).toMatchObject({ ...about, error: one, text: `Tickwarden: ${one}` })
  expect(describeDropped(2, 5).error).toBe('2 more notifications were dropped because too many were waiting')
})

describe('a template', () => {
  it('has every variable', () => {
    const all = '{server} {group} {event} {error} {duration} {time} {player} {online} {max} {version} {motd} {tickRate}'
    expect(unknownVariables(all)).toEqual([])
    expect(renderTemplate(all, values('down'))).toBe(
      'lobby eu down refused 5 min 2027-01-15T08:00:00.000Z Alex 3 20 1.21.11 Hello 18',
    )
    expect(renderTemplate('<{group}{player}>', values('down', { group: null, player: undefined as never }))).toBe('<>')
    expect(renderTemplate('{server} is {event}{error}', values('up', { error: null }))).toBe('lobby is up')
  })

  it('keeps other braces, and names unknown variables', () => {
    expect(renderTemplate('{ server } {} {{server}}', values('down'))).toBe('{ server } {} {lobby}')
    expect(unknownVariables('{server} {name} {toString} { x }')).toEqual(['name', 'toString'])
    expect(renderTemplate('{name}', values('down'))).toBe('')
  })

  it('of the channel comes first', () => {
    expect(templateOf(values('up', { endOf: 'hung' }), { up: 'a' })).toBe('a')
    expect(templateOf(values('restart'), { up: 'a', restart: 'b' })).toBe('b')
  })
})

it('has a severity for each event', () => {
  const bySeverity = (severity: string) => [...eventNames, 'restart' as const].filter((event) => severityOf(event) === severity)
  expect(['bad', 'good', 'warning', 'info'].map(bySeverity)).toEqual([
    ['down', 'hung'],
    ['up', 'restart'],
    ['lagging', 'full', 'trouble'],
    ['empty', 'join', 'leave', 'version', 'record'],
  ])
})
