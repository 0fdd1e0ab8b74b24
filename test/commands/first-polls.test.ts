import { expect, it, onTestFinished } from 'vitest'
import { createFirstPolls } from '../../src/commands/first-polls.ts'
import { SourceError } from '../../src/game/errors.ts'
import { silentLog } from '../../src/util/log.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { addressOf, type Script, scriptedFleet } from '../helpers/scripted-fleet.ts'

const refused = new SourceError('refused', '127.0.0.1:1: connection refused')
const paper = { software: 'Paper', version: '1.21.11', playersOnline: 3, playersMax: 20, edition: 'java' } as const
const settings = (name: string, index = 0) => ({ name, sources: { status: { address: addressOf(index) } } })

function start(script: Script) {
  const clock = manualClock(0)
  const fleet = scriptedFleet(script, clock, Object.keys(script).map(settings))
  const lines: string[] = []
  const firstPolls = createFirstPolls({
    ...silentLog,
    info: (...line: readonly unknown[]) => void lines.push(String(line.at(-1))),
  })
  firstPolls.follow(fleet)
  fleet.start()
  onTestFinished(() => fleet.close())
  return { clock, fleet, firstPolls, lines, script }
}

it.each<[string, Script[string]]>([
  ['survival up: Paper 1.21.11, 3 of 20 players, ticks by RCON', { status: paper, rcon: { tickDurationMean: 0.01 } }],
  ['survival up: Paper 1.21.11, 3 of 20 players, ticks by JMX', { status: paper, jmx: { tickDurationMean: 0.01 } }],
  ['survival up: Paper 1.21.11, 3 of 20 players, no tick data (needs RCON or JMX)', { status: paper }],
  ['survival up: Paper 1.21.11, 3 of 20 players', { status: paper, rcon: refused }],
  ['survival up: Minecraft 1.21.11, 0 players', { status: { version: '1.21.11', playersOnline: 0, edition: 'bedrock' } }],
  ['survival up: Velocity', { status: { software: 'Velocity', proxy: true } }],
  ['survival up: no tick data (needs RCON or JMX)', { status: {} }],
  ['survival hung: Paper 1.21.11, 3 of 20 players', { status: paper, rcon: 'never' }],
])('logs "%s" after the first poll, once', async (line, server) => {
  const { clock, lines } = start({ survival: server })
  await clock.advance(20_000)
  expect(lines).toEqual([line])
})

it('logs nothing for a server that is down, because its failure is already logged', async () => {
  const { clock, lines } = start({ lobby: { status: refused } })
  await clock.advance(20_000)
  expect(lines).toEqual([])
})

it('names ten servers, and counts the others when all have been polled', async () => {
  const script = Object.fromEntries(
    Array.from({ length: 15 }, (_, index) => [`s${index}`, { status: index % 5 === 4 ? refused : paper }]),
  )
  const { clock, lines } = start(script)
  await clock.advance(20_000)
  const named = lines.filter((line) => line.includes(' up: '))
  const [, up, down] = /^and 5 more servers: (\d) up, (\d) down$/.exec(lines.at(-1) ?? '') ?? []
  expect(lines).toHaveLength(named.length + 1)
  expect(Number(up) + Number(down)).toBe(5)
  expect(named.length + Number(up)).toBe(12)
})

it('does not count a server that is hung as up', async () => {
  const script = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`s${index}`, { status: paper, rcon: 'never' as const }]),
  )
  const { clock, lines } = start(script)
  await clock.advance(20_000)
  expect(lines.at(-1)).toBe('and 2 more servers: 0 up, 2 hung, 0 down')
})

it('reports servers that are added or changed later, but not those that are removed before their first poll', async () => {
  const { clock, fleet, lines, script } = start({ a: { status: paper } })
  await clock.advance(1_000)
  lines.splice(0)
  Object.assign(script, { b: { status: paper }, c: { status: 'never' } })
  fleet.update([settings('a', 5), settings('b'), settings('c')])
  await clock.advance(1_000)
  expect(lines.map((line) => line.slice(0, 4)).sort()).toEqual(['a up', 'b up'])
  fleet.update([settings('a', 5), settings('b')])
  await clock.advance(20_000)
  expect(lines).toHaveLength(2)
})

it('logs the sources of a directory after the line of its server, and again when they change', async () => {
  const { clock, firstPolls, lines } = start({ survival: { status: paper } })
  firstPolls.found('survival', 'found in its directory: Status')
  expect(lines).toEqual([])
  await clock.advance(1_000)
  expect(lines.slice(1)).toEqual(['survival: found in its directory: Status'])
  firstPolls.found('survival', 'found in its directory: Status, RCON')
  expect(lines.slice(2)).toEqual(['survival: found in its directory: Status, RCON'])
})
