import { describe, expect, it } from 'vitest'
import {
  eventName,
  eventParameter,
  parsePlayer,
  parsePlayers,
  parseSetting,
  parseStatus,
  parseWorldUpgrade,
  type ReadingMethod,
} from '../../../src/game/protocol/management.ts'

const setting = (name: string) => `minecraft:serversettings/${name}` as ReadingMethod

describe('a setting', () => {
  it.each([
    ['game_mode', 'survival', { defaultGameMode: 'SURVIVAL' }],
    ['game_mode', { mode: 'creative' }, { defaultGameMode: 'CREATIVE' }],
    ['game_mode', 'odd', {}],
    ['motd', 'Hi', { motd: 'Hi' }],
    ['motd', { message: 'Hi' }, { motd: 'Hi' }],
    ['motd', { message: { text: 'Hi' } }, { motd: 'Hi' }],
    ['motd', { other: 'Hi' }, {}],
    ['motd', { message: 5 }, {}],
    ['motd', null, {}],
    ['max_players', 20, { playersMax: 20 }],
    ['max_players', { max: 20 }, { playersMax: 20 }],
    ['max_players', '20', {}],
    ['max_players', 1.5, {}],
    ['max_players', 0, { playersMax: 0 }],
    ['max_players', -1, {}],
    ['pause_when_empty_seconds', { seconds: -1 }, { pauseWhenEmpty: -1 }],
    ['view_distance', { distance: 10 }, { viewDistance: 10 }],
    ['view_distance', null, {}],
    ['view_distance', -1, {}],
    ['difficulty', 'Easy', { difficulty: 'easy' }],
    ['difficulty', { difficulty: 'hard' }, { difficulty: 'hard' }],
    ['difficulty', 'very hard', {}],
    ['difficulty', 'hard!', {}],
    ['difficulty', '!hard', {}],
    ['difficulty', 'a'.repeat(21), {}],
    ['difficulty', ['hard'], {}],
    ['difficulty', 5, {}],
    ['other', 5, {}],
  ])('%s %j is %j', (name, result, expected) => expect(parseSetting(setting(name), result)).toStrictEqual(expected))
})

describe('players', () => {
  const id = '069a79f4-44e9-4726-a5be-fca90e38aaf5'
  it.each([
    [
      { name: 'Alice', id },
      { name: 'Alice', id },
    ],
    [{ name: 'Alice' }, { name: 'Alice' }],
    [{ name: 'Alice', id: 'odd' }, { name: 'Alice' }],
    [{ name: 'a'.repeat(64) }, { name: 'a'.repeat(64) }],
    [{ name: 'a'.repeat(65) }, undefined],
    [{ name: '' }, undefined],
    [{ name: 5 }, undefined],
    [{ id }, undefined],
    ['Alice', undefined],
    [null, undefined],
  ])('%j is %j', (value, expected) => expect(parsePlayer(value)).toStrictEqual(expected))

  it.each([
    [
      [{ name: 'Alice' }, 5, { name: 'Bob' }],
      [{ name: 'Alice' }, { name: 'Bob' }],
    ],
    [{ players: [{ name: 'Alice' }] }, [{ name: 'Alice' }]],
    [[], []],
    [{ players: 'Alice' }, undefined],
    [{}, undefined],
    ['Alice', undefined],
  ])('%j are %j', (value, expected) => expect(parsePlayers(value)).toStrictEqual(expected))
})

describe('a status', () => {
  const version = { name: '1.21.11', protocol: 774 }
  it.each([
    [
      { started: true, version, players: [{ name: 'Alice' }] },
      { version: '1.21.11', protocol: 774, players: [{ name: 'Alice' }] },
    ],
    [{ status: { started: true, version } }, { version: '1.21.11', protocol: 774, players: [] }],
    [
      { started: false, version },
      { version: '1.21.11', protocol: 774 },
    ],
    [{ version }, { version: '1.21.11', protocol: 774 }],
    [{ version: { name: 5, protocol: 'x' } }, {}],
    [{ version: { name: 'a'.repeat(101) } }, { version: 'a'.repeat(100) }],
    [{ version: '1.21.11' }, {}],
    [{ players: 'odd', started: true }, {}],
    ['odd', {}],
    [null, {}],
    [undefined, {}],
  ])('%j is %j', (result, expected) => expect(parseStatus(result)).toStrictEqual(expected))
})

describe('an event', () => {
  it.each([
    ['minecraft:notification/players/joined', 'players/joined'],
    ['notification:players/joined', 'players/joined'],
    ['minecraft:odd/notification/players', 'minecraft:odd/notification/players'],
  ])('%s is %s', (method, name) => expect(eventName(method)).toBe(name))

  it.each([
    [[{ progress: 0.5 }], 0.5],
    [[0.5], 0.5],
    [{ progress: 0.5 }, 0.5],
    [0.5, 0.5],
  ])('%j has its parameter by position or by name', (params, value) => expect(eventParameter(params, 'progress')).toBe(value))

  it.each([
    ['world/upgrade_started', undefined, { state: 'running', progress: 0 }],
    ['world/upgrade_progress', [0], { state: 'running', progress: 0 }],
    ['world/upgrade_progress', [1], { state: 'running', progress: 1 }],
    ['world/upgrade_progress', [1.01], undefined],
    ['world/upgrade_progress', [-0.01], undefined],
    ['world/upgrade_progress', ['0.5'], undefined],
    ['world/upgrade_progress', [null], undefined],
    ['world/upgrade_finished', undefined, { state: 'finished' }],
    ['world/upgrade_failed', undefined, { state: 'failed' }],
    ['world/other', [0.5], undefined],
  ])('%s %j is %j', (event, params, expected) => expect(parseWorldUpgrade(event, params)).toStrictEqual(expected))
})
