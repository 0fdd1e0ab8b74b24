import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SourceError } from '../../../../src/game/errors.ts'
import type { Fields } from '../../../../src/game/fields.ts'
import { RconSource } from '../../../../src/game/sources/rcon/rcon-source.ts'
import type { Reading, Source } from '../../../../src/game/sources/source.ts'
import { type Clock, systemClock } from '../../../../src/util/clock.ts'
import { type Log, silentLog } from '../../../../src/util/log.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { listenRconPeer, packet, type Request } from '../../../helpers/rcon-peer.ts'
import { until } from '../../../helpers/until.ts'

/** The source and its log lines. */
function createSource(address: { readonly host: string; readonly port: number }, clock: Clock = systemClock) {
  const lines: string[] = []
  const note = (_: unknown, text?: string) => void lines.push(text ?? '')
  const log: Log = { ...silentLog, info: note, warn: note }
  const source = new RconSource({ address, password: 'password' }, { clock, log, random: () => 0, push() {} })
  onTestFinished(() => source.close())
  return { source, lines }
}

/** One poll with a deadline, as the watcher makes it. */
function pollFor(source: Source, ms: number, clock: Clock = systemClock): Promise<Reading> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new SourceError('timeout', 'deadline')), ms)
  onTestFinished(() => clearTimeout(timer))
  return source.poll(controller.signal, clock.now() + ms)
}

async function listen(onRequest: (request: Request) => void) {
  const peer = await listenRconPeer(onRequest)
  onTestFinished(() => peer.close())
  return peer
}

const names = Array.from({ length: 400 }, (_, index) => `Bot${String(index).padStart(8, '0')}`)
/** A list whose text has exactly 4,096 units. */
function listOf4096(): { readonly text: string; readonly count: number } {
  for (let count = 400; count > 0; count--) {
    const head = `There are ${count} of a max of 9999 players online: `
    const text = head + names.slice(0, count).join(', ')
    const missing = 4096 - text.length
    // The last name fills up the remaining length.
    if (missing >= 0 && missing <= 40) return { text: text + 'x'.repeat(missing), count }
  }
  throw new RangeError('no such list')
}

describe('Cuberite', () => {
  const replies: Readonly<Record<string, string>> = {
    'list uuids': 'Players (2): Bot0, Bot1',
    tps: 'Global TPS: 20\nWorld "world": 19.96 TPS',
  }

  it('is read, although an empty packet follows each reply, over one connection', async () => {
    const peer = await listen(({ socket, id, type, body }) => {
      if (type !== 2) return void socket.destroy()
      socket.write(packet(id, 2, replies[body] ?? `Unknown command: "${body}"`))
      socket.write(packet(id, 2, ''))
    })
    const { source } = createSource(peer.address)
    for (let poll = 0; poll < 4; poll++) {
      const { fields } = await pollFor(source, 5_000)
      expect(fields).toMatchObject({ playersOnline: 2, players: { players: [{ name: 'Bot0' }, { name: 'Bot1' }] } })
      // Rates that are computed differently: unknown rather than wrong.
      expect(fields).not.toHaveProperty('paperTickRates')
    }
    expect(peer.logins).toBe(1)
  })

  it('that closes the connection on the end mark: its reply of 4,096 units is read, and no end mark is sent again', async () => {
    const { text, count } = listOf4096()
    let marks = 0
    const peer = await listen(({ socket, id, type, body }) => {
      if (type !== 2) {
        marks++
        return void socket.destroy()
      }
      socket.write(packet(id, 2, body.startsWith('list') ? text : `Unknown command: "${body}"`))
      socket.write(packet(id, 2, ''))
    })
    const { source } = createSource(peer.address)
    const poll = async () => (await pollFor(source, 5_000)).fields
    await until(async () => (await poll()).playersOnline === count)
    await until(async () => (await poll()).playersOnline === count)
    expect(marks).toBe(1)
  })
})

it('reads a reply of 4,096 units from a server that ignores the end mark, as go-mc does, and detects later ends by silence', async () => {
  const { text, count } = listOf4096()
  let marks = 0
  const peer = await listen(({ socket, id, type, body }) => {
    if (type === 100) marks++
    else socket.write(packet(id, 0, body.startsWith('list') ? text : 'Unknown command'))
  })
  const clock = manualClock()
  const { source } = createSource(peer.address, clock)
  const poll = async () => {
    const deadline = new AbortController()
    const cancel = clock.after(600, () => deadline.abort(new SourceError('timeout', 'deadline')))
    let isOver = false
    const polled = source.poll(deadline.signal, clock.now() + 600).finally(() => {
      isOver = true
    })
    // In small steps: replies arrive in real time.
    await until(async () => {
      await clock.advance(10)
      return isOver
    })
    cancel()
    return (await polled).fields
  }
  expect(await poll()).toMatchObject({ playersOnline: count })
  expect(await poll()).toMatchObject({ playersOnline: count })
  expect(marks).toBe(1)
})

it('a server that closes the connection after each reply is read in full, a connection for each command, with two lines of log', async () => {
  let closes = true
  const peer = await listen(({ socket, id, body }) => {
    const reply = body.startsWith('list')
      ? 'There are 1 of a max of 20 players online: Alice'
      : body === 'time query gametime'
        ? 'The time is 4711'
        : 'Unknown or incomplete command, see below for error'
    if (closes) socket.end(packet(id, 0, reply))
    else socket.write(packet(id, 0, reply))
  })
  let now = 0
  const clock = { ...systemClock, now: () => systemClock.now() + now }
  const { source, lines } = createSource(peer.address, clock)
  const poll = async () => (await pollFor(source, 5_000, clock)).fields
  const all = { playersOnline: 1, playersMax: 20, tickCount: { ticks: 4711 } }
  expect(await poll()).toMatchObject(all)
  const { logins } = peer
  const commands = peer.commands.length
  for (let count = 0; count < 3; count++) expect(await poll()).toMatchObject(all)
  expect(peer.commands.length).toBeGreaterThan(commands)
  expect(peer.logins - logins).toBe(peer.commands.length - commands)
  const learned = [
    expect.stringContaining('closed the connection after one reply'),
    expect.stringContaining('closes the connection after each reply'),
  ]
  expect(lines).toEqual(learned)
  // Checked again later: first it still does, then it no longer does.
  now += 600_001
  expect(await poll()).toMatchObject(all)
  expect(lines).toEqual(learned)
  await until(() => peer.sockets.size === 0)
  now += 600_001
  closes = false
  expect(await poll()).toMatchObject(all)
  expect(await poll()).toMatchObject(all)
  expect(lines).toEqual([...learned, expect.stringContaining('keeps the connection open after a reply again')])
})

it('with plugins that replace commands, such as EssentialsX and spark, is asked by their full names, without a line of log', async () => {
  const usage = '§6Display/Change the world time.\n§6/time [set|add] [day|night|dawn|17:30|4pm|4000ticks] [worldname|all]\n'
  const replies: Readonly<Record<string, string>> = {
    'time query gametime': usage,
    'time query daytime': usage,
    'time query day': usage,
    'minecraft:time query gametime': 'The time is 50000',
    'minecraft:time query daytime': 'The time is 2000',
    'minecraft:time query day': 'The time is 2',
    'list uuids': '§cError:§4 There is no one online in this group!',
    'minecraft:list uuids': 'There are 1 of a max of 20 players online: Alice',
    // spark replies when the command has ended.
    tps: '',
    'spigot:tps': '§6TPS from last 1m, 5m, 15m: §a20.0, §a19.97, §e17.5\n',
  }
  const peer = await listen(({ socket, id, type, body }) => {
    if (type === 2) socket.write(packet(id, 0, replies[body] ?? 'Unknown command. Type "/help" for help.\n'))
  })
  const clock = manualClock()
  const { source, lines } = createSource(peer.address, clock)
  for (let turn = 0; turn < 20; turn++) {
    await pollFor(source, 20_000, clock)
    await clock.advance(5_000)
  }
  expect((await pollFor(source, 20_000, clock)).fields).toMatchObject({
    ...{ tickCount: { ticks: 50_000 }, worldTimeOfDay: 2_000, worldDay: 2 },
    ...{ playersOnline: 1, paperTickRates: { '1m': 20, '5m': 19.97, '15m': 17.5 } },
  })
  for (const replaced of ['time query gametime', 'list uuids', 'tps'])
    expect(
      peer.commands.filter((command) => command === replaced),
      replaced,
    ).toHaveLength(1)
  expect(lines).toEqual([])
})

it.each([
  ['is not empty and answers nothing of ours', 999_999, 'text'],
  ['comes without end', 999_999, ''],
])('a packet that %s closes the connection', async (_, id, body) => {
  const peer = await listen(({ socket }) => {
    const bytes = Buffer.concat(Array(200).fill(packet(id, 0, body)))
    socket.write(bytes)
  })
  const { source } = createSource(peer.address)
  await expect(pollFor(source, 5_000)).rejects.toMatchObject({ code: 'malformed' })
})

interface Form {
  readonly software: string
  /** The reply to `tps`. */
  readonly tps?: string
  readonly read: object
}
const forms: readonly Form[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../fixtures/server-software.json'), 'utf8'),
)

it.each(forms.flatMap(({ software, tps, read }) => (tps === undefined ? [] : [{ software, tps, read }])))(
  '$software: the rates that it reports are read, and it is never sent `version`, whose reply may need the internet',
  async ({ tps, read }) => {
    const replies: Readonly<Record<string, string>> = {
      tps,
      'list uuids': 'There are 1 of a max of 20 players online: Alice',
      'time query gametime': 'The time is 4711',
    }
    const peer = await listen(({ socket, id, type, body }) => {
      if (type === 2) socket.write(packet(id, 0, replies[body] ?? 'Unknown command. Type "/help" for help.\n'))
    })
    const clock = manualClock()
    const { source, lines } = createSource(peer.address, clock)
    const { paperTickRates } = read as Partial<Fields>
    for (let turn = 0; turn < 20; turn++) {
      const { fields } = await pollFor(source, 20_000, clock)
      expect(fields.paperTickRates).toEqual(paperTickRates)
      await clock.advance(turn < 10 ? 5_000 : 1_000_000)
    }
    expect(lines).toEqual([])
    expect(peer.commands).not.toContain('version')
  },
)
