import { expect, it } from 'vitest'
import type { Fields } from '../../src/game/fields.ts'
import { merge, precedence } from '../../src/game/merge.ts'
import type { SourceName } from '../../src/game/sources/names.ts'

const names: readonly SourceName[] = ['status', 'rcon', 'management', 'query', 'directory']
const reading = (source: SourceName, fields: Partial<Fields>, at = 1) => ({ source, at, fields })

it.each([
  ['players', 'management', 'rcon', 'query', 'status'],
  ['playersOnline', 'management', 'rcon', 'query', 'status'],
  ['version', 'management', 'status', 'rcon', 'query', 'directory'],
  ['tickCount', 'rcon'],
  ['loaderVersion', 'directory', 'status'],
  ['defaultGameMode', 'management', 'directory', 'status'],
  // The port that is polled: the one a query reply names may be another.
  ['port', 'status', 'directory'],
] as const)('%s comes from the best source that has it', (name, ...order) => {
  expect(precedence[name]).toEqual(order)
  const reported = (source: SourceName) => (name === 'players' ? { players: [{ name: source }], complete: true } : source)
  const readings = names
    .filter((source) => (order as readonly string[]).includes(source))
    .map((source) => reading(source, { [name]: reported(source) } as never))
  for (let failed = 0; failed < order.length; failed++) {
    const left = readings.filter(({ source }) => !(order.slice(0, failed) as readonly string[]).includes(source))
    expect(merge(left)[name]).toEqual({ value: reported(order[failed] as SourceName), source: order[failed] })
  }
  expect(merge([])).toEqual({})
})

it('lists at least one source for each field, and none twice', () => {
  for (const sources of Object.values(precedence)) {
    expect(new Set(sources).size).toBe(sources.length)
    expect(sources.length).toBeGreaterThan(0)
  }
})

it('prefers the newer reading of a source for each field', () => {
  const merged = merge([reading('management', { motd: 'old', playersMax: 20 }, 1), reading('management', { motd: 'new' }, 2)])
  expect(merged).toEqual({
    motd: { value: 'new', source: 'management' },
    playersMax: { value: 20, source: 'management' },
  })
})

it('keeps values that are 0, false or empty', () => {
  const merged = merge([
    reading('rcon', { playersOnline: 0, tickFrozen: false }),
    reading('status', { playersOnline: 5, motd: '' }),
  ])
  expect(merged).toMatchObject({ playersOnline: { value: 0 }, tickFrozen: { value: false }, motd: { value: '' } })
})

it('adds the ids of players from another source, but no other players', () => {
  const id = '069a79f4-44e9-4726-a5be-fca90e38aaf5'
  const other = '61699b2e-d327-4a01-9f1e-0ea8c3f06bc6'
  const merged = merge([
    reading('query', { players: { players: [{ name: 'Al' }, { name: 'Bob' }, { name: 'Cy', id: other }], complete: true } }),
    reading('status', {
      players: {
        players: [
          { name: 'Al', id },
          { name: 'Eve', id },
          { name: 'Cy', id },
        ],
        complete: false,
      },
    }),
  ])
  expect(merged.players).toEqual({
    value: { players: [{ name: 'Al', id }, { name: 'Bob' }, { name: 'Cy', id: other }], complete: true },
    source: 'query',
  })
})

it('takes the longest of player lists that lack players, of the sources whose last poll succeeded', () => {
  const part = (...names: string[]) => ({ players: { players: names.map((name) => ({ name })), complete: false } })
  const merged = (query: readonly string[], status: readonly string[], ...failing: SourceName[]) =>
    merge([reading('query', part(...query)), reading('status', part(...status))], new Set(failing)).players?.source
  expect(merged([], ['Al'])).toBe('status')
  expect(merged(['Al'], ['Bob', 'Al'])).toBe('status')
  expect(merged(['Al'], ['Bob'])).toBe('query')
  expect(merged(['Al'], ['Bob', 'Al'], 'status')).toBe('query')
  const ofOnline = { ...part('Al'), playersOnline: 1 }
  expect(merge([reading('query', ofOnline), reading('status', part('Bob', 'Al'))]).players?.source).toBe('query')
  const left = merge([reading('management', part('Al', 'Bob')), reading('management', part('Al'))])
  expect(left.players?.value.players).toEqual([{ name: 'Al' }])
  const complete = { players: { players: [], complete: true } }
  expect(merge([reading('query', complete), reading('status', part('Al'))]).players?.source).toBe('query')
  // A player has left since the poll.
  const later = merge([reading('management', part('Al', 'Bob'), 1), reading('management', part('Al'), 2)])
  expect(later.players?.value.players).toEqual([{ name: 'Al' }])
})

it('keeps the id of a player who has stayed, since the status contains another sample each time', () => {
  const id = '069a79f4-44e9-4726-a5be-fca90e38aaf5'
  const query = (...names: readonly string[]) =>
    reading('query', { players: { players: names.map((name) => ({ name })), complete: true } })
  const sample = (name: string) => reading('status', { players: { players: [{ name, id }], complete: false } })
  const first = merge([query('Al', 'Bob'), sample('Al')])
  const then = (before: typeof first, ...names: readonly string[]) =>
    merge([query(...names), sample('Cy')], undefined, undefined, before.players?.value)
  const second = then(first, 'Al', 'Bob')
  expect(second.players?.value.players).toEqual([{ name: 'Al', id }, { name: 'Bob' }])
  // One who has left may come back as another.
  expect(then(then(second, 'Bob'), 'Al').players?.value.players).toEqual([{ name: 'Al' }])
})

it('adds no id to one of several players of the same name', () => {
  const id = '069a79f4-44e9-4726-a5be-fca90e38aaf5'
  // The status leaves out an id that is not valid.
  const sample = { players: [{ name: 'Al', id }, { name: 'Al' }], complete: false }
  const status = reading('status', { players: sample })
  expect(merge([status]).players?.value).toEqual(sample)
  const players = { players: [{ name: 'Al' }, { name: 'Al' }], complete: true }
  expect(merge([reading('query', { players }), status]).players?.value).toEqual(players)
})

it('takes a field from a source whose last poll failed only if no other source has it', () => {
  const readings = [reading('rcon', { playersOnline: 7, tickFrozen: false }), reading('status', { playersOnline: 2 }, 5)]
  expect(merge(readings, new Set<SourceName>(['rcon']))).toMatchObject({
    playersOnline: { value: 2, source: 'status' },
    tickFrozen: { value: false, source: 'rcon' },
  })
  expect(merge(readings, new Set<SourceName>(['rcon', 'status'])).playersOnline).toMatchObject({ source: 'rcon' })
})
