import { describe, expect, it } from 'vitest'
import { parseForgeTps, parseNeoForgeTps } from '../../../src/game/protocol/rcon/forge-tps.ts'
import { isCuberiteTps, parsePaperMspt, parsePaperTps } from '../../../src/game/protocol/rcon/paper-tps.ts'
import { parsePlayerList } from '../../../src/game/protocol/rcon/player-list.ts'
import { isUnknownCommand, parseDifficulty, plainReply } from '../../../src/game/protocol/rcon/reply.ts'
import { parseServerVersion } from '../../../src/game/protocol/rcon/server-version.ts'
import { parseTickQuery } from '../../../src/game/protocol/rcon/tick-query.ts'
import { parseDay, parseGameTime, parseTimeOfDay } from '../../../src/game/protocol/rcon/time-query.ts'
import { cpuMs } from '../../helpers/growth.ts'

/** Texts that no parser may accept. */
const strange = [
  '',
  'Unknown or incomplete command, see below for errortick query<--[HERE]',
  'null',
  '20.0',
  'The game is running normally',
  'The time is ',
  'There are many players online',
  'x'.repeat(100_000),
]

const parsers = {
  parseTickQuery,
  parseGameTime,
  parseTimeOfDay,
  parseDay,
  parsePlayerList,
  parsePaperTps,
  parsePaperMspt,
  parseForgeTps,
  parseNeoForgeTps,
  parseServerVersion,
  parseDifficulty,
}

describe.each(Object.entries(parsers))('%s', (_, parser) => {
  it.each(strange.map((text) => [text.slice(0, 60), text]))('does not understand %j', (_, text) => {
    expect(parser(text)).toBeUndefined()
  })
})

/** The start of every text, followed by repetitions that may make a pattern slow. */
const openings = [
  '',
  'Overworld: 20.000 TPS (0.520 ms/tick)',
  'Dim ',
  'Dim a (',
  'Server version info:id = ',
  'Server version info:id = 1name = 1data = 1series = ',
  'This server is running Paper version ',
  'The game is running normallyTarget tick rate: 20.0 per second.',
  'The game is running normallyTarget tick rate: ',
  'There are 9 of a max of 20 players online: ',
  'Server tick times (avg/min/max) from last 5s, 10s, 1m:',
  'TPS from last ',
  'TPS from last 1m, 5m, 15m: ',
]
const fillers = [
  ' ',
  '\n',
  '1',
  'a:',
  ' (',
  'name = ',
  'data = 1series = ',
  'protocol = 1',
  'Target tick rate: 1 per second. ',
  'a (',
  ', ',
]

describe.each(Object.entries(parsers))('%s', (_, parser) => {
  it('stays quick on long texts made to be slow', () => {
    const started = cpuMs()
    for (const opening of openings) for (const filler of fillers) parser(`${opening}${filler.repeat(200_000 / filler.length)}x`)
    expect(cpuMs() - started).toBeLessThan(15_000)
  })
})

describe('plainReply', () => {
  it.each([
    ['§6TPS from last 1m, 5m, 15m: §a20.0§r, §a20.0§r, §a20.0\n', 'TPS from last 1m, 5m, 15m: 20.0, 20.0, 20.0'],
    ['a\r\nb\n', 'a\nb'],
    ['§LBold §x§1§2§a§b§3§4hex', 'Bold hex'],
    ['Ann§, Max§ü, Eve§ (id)', 'Ann§, Max§ü, Eve§ (id)'],
    ['plain', 'plain'],
  ])('%j', (text, plain) => expect(plainReply(text)).toBe(plain))
})

describe('isUnknownCommand', () => {
  it.each([
    ['Unknown or incomplete command, see below for errortick query<--[HERE]', true],
    ['Unknown or incomplete command. See below for errortps<--[HERE]', true],
    ['Incorrect argument for command...query daytime<--[HERE]', true],
    ['Unknown command. Try /help for a list of commands', true],
    ['Unknown command. Type "/help" for help.', true],
    ["Unknown command, type 'help' for all commands.", true],
    ['Usage: /difficulty <new difficulty>', true],
    ['The time is 5', false],
    ['', false],
  ])('%j: %s', (text, unknown) => expect(isUnknownCommand(text)).toBe(unknown))
})

describe('tick query', () => {
  const numbers = { target: 20, mean: 0.0012, p50: 0.0011, p95: 0.0019, p99: 0.0023 }
  const target = 'Target tick rate: 20.0 per second.\nAverage time per tick: 1.2ms (Target: 50.0ms)'
  const reference = 'Target tick rate: 20.0 per second (ignored, reference only).\nAverage time per tick: 1.2ms'
  const older = 'Percentiles: P50: 1.1ms P95: 1.9ms P99: 2.3ms, sample: 100'
  const newer = 'Percentiles: P50: 1.1ms P95: 1.9ms P99: 2.3ms. Sample: 100'

  it.each([
    [`The game is running normally${target}${older}`, { ...numbers, state: 'running' }],
    [`The game runs normally${target}${older}`, { ...numbers, state: 'running' }],
    [`The game is running normally${target}${newer}`, { ...numbers, state: 'running' }],
    [`The game is running, but can't keep up with the target tick rate${target}${newer}`, { ...numbers, state: 'lagging' }],
    [`The game is frozen${target}${newer}`, { ...numbers, state: 'frozen' }],
    [`The game is sprinting${reference}${newer}`, { ...numbers, state: 'sprinting' }],
    [`The game is sprinting${reference}${older}`, { ...numbers, state: 'sprinting' }],
    [`The game is running normally\n${target}\n${newer}`, { ...numbers, state: 'running' }],
    [`The game is running normally${target}${newer}`.replaceAll(/(\d)\.(\d)/g, '$1,$2'), { ...numbers, state: 'running' }],
    [
      "The game is running, but can't keep up with the target tick rateTarget tick rate: 10000.0 per second.\n" +
        'Average time per tick: 61.7ms (Target: 0.1ms)Percentiles: P50: 0.0ms P95: 123.4ms P99: 2041.9ms. Sample: 100',
      { state: 'lagging', target: 10000, mean: 0.0617, p50: 0, p95: 0.1234, p99: 2.0419 },
    ],
  ])('%j', (text, expected) => expect(parseTickQuery(text)).toEqual(expected))

  it('has the digits and the separator of the locale', () => {
    const arabic = (number: string) =>
      number.replace('.', '\u066b').replaceAll(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))
    const [target, mean, full, p50, p95, p99] = ['20.0', '1.2', '50.0', '1.1', '1.9', '2.3'].map(arabic)
    const text = `The game is running normallyTarget tick rate: ${target} per second.\nAverage time per tick: ${mean}ms (Target: ${full}ms)Percentiles: P50: ${p50}ms P95: ${p95}ms P99: ${p99}ms. Sample: 100`
    expect(parseTickQuery(text)).toEqual({ state: 'running', target: 20, mean: 0.0012, p50: 0.0011, p95: 0.0019, p99: 0.0023 })
  })

  it.each([
    `The game is confused${target}${newer}`,
    `The game is running normally${target}`,
    `The game is running normally${newer}`,
    `The game is running normally${target}${newer} and more`,
    `The game is running normally${target}${newer}`.replace('1.2ms', 'NaNms'),
    `The game is running normally${target}${newer}`.replace('1.2ms', `${'9'.repeat(400)}ms`),
  ])('is not understood: %j', (text) => expect(parseTickQuery(text)).toBeUndefined())
})

describe('time query', () => {
  it.each([
    ['The time is 0', { ticks: 0, form: 'classic' }],
    ['The time is 123456789', { ticks: 123_456_789, form: 'classic' }],
    ['Time is 4242', { ticks: 4242, form: 'classic' }],
    ['The game time is 123456789 tick(s)', { ticks: 123_456_789, form: 'clocks' }],
    ['The time is 9007199254740993', undefined],
    ['The time is -5', undefined],
    ['The time is 5.5', undefined],
  ])('gametime %j', (text, expected) => expect(parseGameTime(text)).toEqual(expected))

  it.each([
    ['The time is 23999', 23_999],
    ['The time is 24000', undefined],
    ['Clock minecraft:overworld is at 6000 tick(s)', 6000],
    ['Clock minecraft:overworld is at 54000 tick(s)', 6000],
    ['Clock minecraft:the_end is at 6000 tick(s)', undefined],
    ['The game time is 6000 tick(s)', undefined],
  ])('time of day %j', (text, expected) => expect(parseTimeOfDay(text)).toBe(expected))

  it.each([
    ['The time is 17', 17],
    ['Timeline minecraft:day has passed 17 repetition(s)', 17],
    ['Timeline minecraft:day is at 17 tick(s)', undefined],
  ])('day %j', (text, expected) => expect(parseDay(text)).toBe(expected))
})

describe('list', () => {
  const alice = { name: 'Alice', id: '11111111-2222-3333-4444-555555555555' }
  const bob = { name: 'Bob', id: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee' }
  const both = 'Alice (11111111-2222-3333-4444-555555555555), Bob (AAAAAAAA-bbbb-cccc-dddd-eeeeeeeeeeee)'
  const whole = { online: 2, max: 20, players: [alice, bob] }
  const odd = '(0d0d0d0d-0000-0000-0000-000000000000)'
  const oddId = '0d0d0d0d-0000-0000-0000-000000000000'

  it.each([
    [`There are 2 of a max of 20 players online: ${both}`, whole],
    [`There are 2 of a max 20 players online: ${both}`, whole],
    [`There are 2/20 players online:${both}`, whole],
    [`There are 2/20 players online:\n${both}`, whole],
    ['There are 2/20 players online:Alice, Bob', { online: 2, max: 20, players: [{ name: 'Alice' }, { name: 'Bob' }] }],
    ['Players (2): Bot0, Bot1', { online: 2, players: [{ name: 'Bot0' }, { name: 'Bot1' }] }],
    ['Players (0):', { online: 0, players: [] }],
    ['There are 0 of a max of 20 players online:', { online: 0, max: 20, players: [] }],
    // Names with spaces, commas and parentheses.
    [
      `There are 2 of a max of 20 players online: A, B ${odd}, Some One (x) ${odd}`,
      {
        online: 2,
        max: 20,
        players: [
          { name: 'A, B', id: oddId },
          { name: 'Some One (x)', id: oddId },
        ],
      },
    ],
    // Without UUIDs a name with a comma is ambiguous: only the count is returned.
    ['There are 2 of a max of 20 players online: A, B, C', { online: 2, max: 20 }],
    ['There are 1 of a max of 20 players online: Some One', { online: 1, max: 20, players: [{ name: 'Some One' }] }],
    [`There are 3 of a max of 20 players online: ${both}`, { online: 3, max: 20 }],
    [`There are 2 of a max of 20 players online: ${both}, `, whole],
    [`There are 2 of a max of 20 players online: ${both} and more`, { online: 2, max: 20 }],
    ['There are 5 of a max of 20 players online:', { online: 5, max: 20 }],
  ])('%j', (text, expected) => expect(parsePlayerList(text)).toEqual(expected))

  it('stays quick on a long text made to be slow', () => {
    const text = `There are 9 of a max of 20 players online: ${'a (11111111-2222-3333-4444-55555555555), '.repeat(25_000)}`
    const started = cpuMs()
    expect(parsePlayerList(text)).toEqual({ online: 9, max: 20 })
    expect(cpuMs() - started).toBeLessThan(5_000)
  })
})

describe('Paper', () => {
  it.each([
    ['§6TPS from last 1m, 5m, 15m: §a20.0§r, §a20.0§r, §a20.0\n', { '1m': 20, '5m': 20, '15m': 20 }],
    ['§6TPS from last 1m, 5m, 15m: §a*20.0, §e17.53, §c9.8\n', { '1m': 20, '5m': 17.53, '15m': 9.8 }],
    ['§6TPS from last 1m, 5m, 15m: §a19,98§r, §a20,0§r, §a20,0\n', { '1m': 19.98, '5m': 20, '15m': 20 }],
    // The labels, not the positions, are the windows.
    ['TPS from last 15m, 1m: 17.5, 20.0', { '1m': 20, '15m': 17.5 }],
    ['TPS from last 5s, 10s, 1m: 20.0, 19.0, 18.0', { '5s': 20, '1m': 18 }],
    ['TPS from last 5s, 1m, 5m, 15m: 20.0*, *20.0, 19,97, 17,5', { '5s': 20, '1m': 20, '5m': 19.97, '15m': 17.5 }],
    // Lines before and after it, joined with and without a separator.
    [
      '§6Server tick time from last 5s, 10s, 1m: §a9.1, §a9.2, §a9.3\n§6TPS from last 5s, 1m: §a20.0, §a19.9\n§6Current Memory Usage: §a1/2 mb',
      { '5s': 20, '1m': 19.9 },
    ],
    ['TPS from last 1m, 5m: 20.0, 19.9Current Memory Usage: 812/2048 mb (Max: 4096 mb)', { '1m': 20, '5m': 19.9 }],
    ['TPS from last 1m, 5m: 20.0*, 19.9*Last tick: 12 ms', { '1m': 20, '5m': 19.9 }],
  ])('tps %j', (text, expected) => expect(parsePaperTps(plainReply(text))).toEqual(expected))

  it.each([
    'TPS from last 1m, 5m, 15m: 20.0, 20.0',
    'TPS from last 1m, 5m, 15m: 20.0, 20.0, 20.0, 20.0',
    'TPS from last 1m, 5m, 15m: 20.0, NaN, 20.0',
    'TPS from last 1m, 5m, 15m: 20.0, 20.0, 1.0E10',
    'TPS from last 2h: 20.0',
    'TPS from last : 20.0',
    'TPS from last 1m, 5m, 15m:',
  ])('tps is not understood: %j', (text) => expect(parsePaperTps(text)).toBeUndefined())

  it.each([
    [
      '§6Server tick times §e(§7avg§e/§7min§e/§7max§e)§6 from last 5s§7,§6 10s§7,§6 1m§e:\n' +
        '§6◴ §a1.2§7/§a0.9§7/§a3.4§e, §a1.3§7/§a0.9§7/§e12.5§e, §a1.4§7/§a0.8§7/§c61.7\n',
      { '5s': 0.0012, '10s': 0.0013, '1m': 0.0014 },
    ],
    [
      'Server tick times (avg/min/max) from last 5s, 10s, 1m:\n◴ 1,2/0,9/3,4, 1,3/0,9/12,5, 1,4/0,8/61,7',
      { '5s': 0.0012, '10s': 0.0013, '1m': 0.0014 },
    ],
  ])('mspt %j', (text, expected) => expect(parsePaperMspt(plainReply(text))).toEqual(expected))

  it("recognises Cuberite's tps, whose values are not comparable", () => {
    const text = 'Global TPS: 20\nWorld "world": 19.96 TPS'
    expect(isCuberiteTps(text)).toBe(true)
    expect(parsePaperTps(text)).toBeUndefined()
  })
})

describe('Forge and NeoForge', () => {
  const overworld = { name: 'minecraft:overworld', tickDurationMean: 0.00052, tickRate: 20 }
  const nether = { name: 'minecraft:the_nether', tickDurationMean: 0.061702, tickRate: 16.207 }

  it.each([
    [
      'Dim minecraft:overworld (minecraft:overworld): Mean tick time: 0.520 ms. Mean TPS: 20.000' +
        'Dim minecraft:the_nether (minecraft:the_nether): Mean tick time: 61.702 ms. Mean TPS: 16.207' +
        'Overall: Mean tick time: 62.500 ms. Mean TPS: 16.000',
      { dimensions: [overworld, nether], tickDurationMean: 0.0625 },
    ],
    [
      'Dim 0 (overworld): Mean tick time: 0,520 ms. Mean TPS: 20,000\nOverall: Mean tick time: 0,700 ms. Mean TPS: 20,000',
      { dimensions: [{ name: '0', tickDurationMean: 0.00052, tickRate: 20 }], tickDurationMean: 0.0007 },
    ],
    [
      'Dim  0 : Mean tick time: 0.520 ms. Mean TPS: 20.000Overall : Mean tick time: 0.700 ms. Mean TPS: 20.000',
      { dimensions: [{ name: '0', tickDurationMean: 0.00052, tickRate: 20 }], tickDurationMean: 0.0007 },
    ],
    [
      'Dim 0 (overworld): Mean tick time: \u0660\u066b\u0665\u0662\u0660 ms. Mean TPS: \u0662\u0660\u066b\u0660\u0660\u0660' +
        'Overall: Mean tick time: \u06f0\u066b\u06f7\u06f0\u06f0 ms. Mean TPS: \u06f2\u06f0\u066b\u06f0\u06f0\u06f0',
      { dimensions: [{ name: '0', tickDurationMean: 0.00052, tickRate: 20 }], tickDurationMean: 0.0007 },
    ],
    ['Dim minecraft:overworld (minecraft:overworld): Mean tick time: 0.520 ms. Mean TPS: 20.000', undefined],
    ['Dim a (b): odd. Overall: Mean tick time: 0.520 ms. Mean TPS: 20.000', undefined],
  ])('forge tps %j', (text, expected) => expect(parseForgeTps(text)).toEqual(expected))

  it.each([
    [
      'Overworld: 20.000 TPS (0.520 ms/tick)The Nether: 16.207 TPS (61.702 ms/tick)mod:deep/dark: 20.000 TPS (0.001 ms/tick)' +
        'Overall: 16.000 TPS (62.500 ms/tick)',
      {
        dimensions: [
          { ...overworld, name: 'Overworld' },
          { ...nether, name: 'The Nether' },
          { name: 'mod:deep/dark', tickDurationMean: 0.000001, tickRate: 20 },
        ],
        tickDurationMean: 0.0625,
      },
    ],
    [
      'Dim minecraft:overworld (minecraft:overworld): Mean tick time: 0.520 ms. Mean TPS: 20.000' +
        'Overall: Mean tick time: 0.700 ms. Mean TPS: 20.000',
      { dimensions: [overworld], tickDurationMean: 0.0007 },
    ],
    ['Overworld: 20.000 TPS (0.520 ms/tick)', undefined],
    [`Overall: ${'9'.repeat(400)} TPS (0.520 ms/tick)`, undefined],
  ])('neoforge tps %j', (text, expected) => expect(parseNeoForgeTps(text)).toEqual(expected))
})

describe('version', () => {
  const text =
    'Server version info:id = 1.21.11name = 1.21.11data = 4671series = mainprotocol = 774 (0x306)' +
    'build_time = Tue Dec 09 12:20:42 UTC 2025pack_resource = 75.0pack_data = 94.1stable = yes'

  it.each([
    [text, { version: '1.21.11', protocol: 774 }],
    [
      text.replace(/(name|data|series|protocol|build_time|pack_resource|pack_data|stable) = /g, '\n$1 = '),
      { version: '1.21.11', protocol: 774 },
    ],
    [
      'This server is running Paper version 1.21.11-69-main@94d0c97 (2025-12-30T20:33:30Z) (Implementing API version 1.21.11-R0.1-SNAPSHOT)',
      { software: 'Paper', version: '1.21.11' },
    ],
    [
      'This server is running CraftBukkit version 4578-Spigot-146439e-2889b3a (MC: 1.21.8) (Implementing API version 1.21.8-R0.1-SNAPSHOT)',
      { software: 'CraftBukkit', version: '1.21.8' },
    ],
    ['Checking version, please wait...', {}],
    ['Server version info:id = 1.21.11', undefined],
  ])('%j', (reply, expected) => expect(parseServerVersion(reply)).toEqual(expected))
})

describe('difficulty', () => {
  it.each([
    ['The difficulty is Easy', 'easy'],
    ['The difficulty is Peaceful', 'peaceful'],
    ['The difficulty did not change; it is already set to easy', undefined],
  ])('%j', (text, expected) => expect(parseDifficulty(text)).toBe(expected))
})

describe('a reply with something before or after it, which another program may have added', () => {
  const forge = 'Overall: Mean tick time: 0.700 ms. Mean TPS: 20.000'
  const neoForge = 'Overall: 20.000 TPS (0.700 ms/tick)'
  it.each<[string, (reply: string) => unknown, string]>([
    ['gametime', parseGameTime, 'The time is 5'],
    ...['tick(s)', 'tick', 'ticks'].map(
      (unit) => ['gametime', parseGameTime, `The game time is 5 ${unit}`] as [string, typeof parseGameTime, string],
    ),
    ...['tick(s)', 'tick', 'ticks'].map(
      (unit) =>
        ['time of day', parseTimeOfDay, `Clock minecraft:overworld is at 5 ${unit}`] as [string, typeof parseTimeOfDay, string],
    ),
    ...['repetition(s)', 'repetition', 'repetitions'].map(
      (unit) => ['day', parseDay, `Timeline minecraft:day has passed 5 ${unit}`] as [string, typeof parseDay, string],
    ),
    ['difficulty', parseDifficulty, 'The difficulty is Hard'],
    ['mspt', parsePaperMspt, 'Server tick times (avg/min/max) from last 5s, 10s, 1m:\n1.2/0.9/3.4, 1.3/0.9/12.5, 1.4/0.8/61.7'],
    ['forge tps', parseForgeTps, forge],
    ['neoforge tps', parseNeoForgeTps, neoForge],
  ])('%s is not understood: %3$j', (_, parse, reply) => {
    expect(parse(reply)).toBeDefined()
    expect(parse(`odd ${reply}`)).toBeUndefined()
    expect(parse(`${reply} odd`)).toBeUndefined()
  })

  it('is no unknown command', () => {
    expect(isUnknownCommand('odd Unknown command')).toBe(false)
    expect(isUnknownCommand('odd Usage: /difficulty')).toBe(false)
    expect(isUnknownCommand('<--[HERE] odd')).toBe(false)
  })

  it.each(['Cuberite says: Global TPS: 20', 'Global TPS: 20 or so'])('is no reply of Cuberite: %j', (reply) =>
    expect(isCuberiteTps(reply)).toBe(false),
  )

  it.each(['odd There are 0/20 players online:', 'odd There are 0 of a max of 20 players online:', 'odd Players (0):'])(
    'is no list: %j',
    (reply) => expect(parsePlayerList(reply)).toBeUndefined(),
  )
})

describe('a list that does not match the number of players', () => {
  const alice = 'Alice (11111111-2222-3333-4444-555555555555)'
  it.each([
    'There are 1 of a max of 20 players online:',
    'There are 2 of a max of 20 players online: Alice',
    `There are 1 of a max of 20 players online: ${alice}, and more`,
    `There are 2 of a max of 20 players online: ${alice}, and more`,
    `There are 1 of a max of 20 players online: ${alice}, ${alice}`,
  ])('has no names: %j', (reply) => expect(parsePlayerList(reply)).toEqual({ online: Number(/\d+/.exec(reply)), max: 20 }))
})

describe('a version that is not whole', () => {
  const reply = 'Server version info:id = 1.21.11name = 1.21.11data = 4671series = mainprotocol = 774 (0x306)'
  it.each([
    ['text before it', `odd ${reply}`],
    ['no name', reply.replace('name = 1.21.11', 'name = ')],
    ['no number of its data', reply.replace('4671', 'x')],
    ['no number of its protocol', reply.replace('774', 'x')],
    ['no series', reply.replace('series = ', '')],
    ['its parts in another order', reply.replace('Server version info:', '').replace('(0x306)', 'Server version info: (0x306)')],
    ['more than 1,000 characters', reply.padEnd(1_001)],
    ['two words as its software', 'This server is running Some Paper version 1.21.4-1 (Implementing API version 1.21.4-R0.1)'],
    ['no number as its version', 'This server is running Paper version git-1 (Implementing API version unknown-R0.1)'],
    ['a number with letters as its version', 'This server is running Paper version 1 (Implementing API version 1.21x-R0.1)'],
    ['letters before its version', 'This server is running Paper version 1 (Implementing API version x1.21-R0.1)'],
    ['no API version', 'This server is running Paper version 1.21.4-1'],
    ['another order of Bukkit', ' version  (Implementing API version 1.21-R0.1This server is running Paper'],
    ['something before the check', 'odd Checking version, please wait...'],
  ])('is not understood with %s', (_, text) => expect(parseServerVersion(text)).toBeUndefined())

  it('is understood up to 1,000 characters', () =>
    expect(parseServerVersion(reply.padEnd(1_000))).toEqual({ version: '1.21.11', protocol: 774 }))
})

it.each([
  ['TPS from last 1m,5m: 20.0, 19.9', { '1m': 20, '5m': 19.9 }],
  ['odd', undefined],
])('rates without a space between their windows: %j', (reply, expected) => expect(parsePaperTps(reply)).toEqual(expected))
