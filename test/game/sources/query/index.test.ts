import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { queryFull } from 'minecraft-server-util'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../../src/clock.ts'
import { createQuerySource } from '../../../../src/game/sources/query/index.ts'
import { silentLog } from '../../../../src/log.ts'
import { never } from '../../../helpers/never.ts'
import { type QueryAnswers, queryServer } from '../../../helpers/query-server.ts'
import { hasTool } from '../../../helpers/require-tool.ts'

const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function serve(answers: Partial<QueryAnswers> = {}) {
  const server = await queryServer(answers)
  closers.push(server.close)
  return { server, source: createQuerySource({ host: '127.0.0.1', port: server.port }, context) }
}

it('reads names, map and counts of a vanilla server', async () => {
  const { source } = await serve()
  expect((await source.poll(never())).fields).toEqual({
    edition: 'java',
    motd: 'A Minecraft Server',
    version: '1.21.4',
    plugins: [],
    map: 'world',
    levelName: 'world',
    playersOnline: 2,
    playersMax: 20,
    players: { players: [{ name: 'Alice' }, { name: 'Bob' }], complete: true },
  })
})

it('reads software and plugins', async () => {
  const { source } = await serve({ plugins: 'Paper on Bukkit 1.21.4-R0.1-SNAPSHOT: LuckPerms 5.4.1; Essentials: Extra 2' })
  expect((await source.poll(never())).fields).toMatchObject({
    software: 'Paper',
    plugins: ['LuckPerms 5.4.1', 'Essentials: Extra 2'],
  })
})

it.each([
  ['ISO-8859-1 before 1.21.11', '1.21.10', Buffer.from('Café §lÜber', 'latin1'), 'Café Über'],
  ['ISO-8859-1 that could be UTF-8', '1.20.1', Buffer.from('Ã©', 'latin1'), 'Ã©'],
  ['UTF-8 from 1.21.11', '1.21.11', Buffer.from('Café ☃ 日本'), 'Café ☃ 日本'],
  ['UTF-8 in 26.1', '26.1', Buffer.from('☃'), '☃'],
  ['a version without a number', 'custom', Buffer.from('☃'), '☃'],
  ['a NUL in it', '1.21.11', Buffer.from('one\0two\0three'), 'one two three'],
  ['nothing in it', '1.21.11', Buffer.from(''), ''],
])('reads a MOTD with %s, and the other values', async (_, version, hostname, motd) => {
  const { source } = await serve({ version, hostname })
  expect((await source.poll(never())).fields).toMatchObject({ motd, map: 'world', playersOnline: 2, players: { complete: true } })
})

it('marks a list with hidden players as incomplete', async () => {
  const { source } = await serve({ names: ['Alice'], online: 3 })
  expect((await source.poll(never())).fields).toMatchObject({ playersOnline: 3, players: { complete: false } })
})

it('reads hundreds of names', async () => {
  const names = Array.from({ length: 500 }, (_, index) => `Player_${index}`)
  const { source } = await serve({ names })
  expect((await source.poll(never())).fields.players?.players.map(({ name }) => name)).toEqual(names)
})

it('records the time at which the reading was complete', async () => {
  const { server } = await serve()
  let now = 1_000
  server.reply = (stat) => {
    now = 1_400
    return stat
  }
  const clock = { ...systemClock, now: () => now }
  const source = createQuerySource({ host: '127.0.0.1', port: server.port }, { ...context, clock })
  expect((await source.poll(never())).at).toBe(1_400)
})

it('sends lost datagrams again', async () => {
  const { server, source } = await serve()
  server.lose = 1
  expect((await source.poll(never())).fields.playersOnline).toBe(2)
  expect(server.requests).toBe(3)
})

it.each([
  ['without padding', (stat: Buffer) => stat.subarray(0, 8)],
  ['without values', (stat: Buffer) => stat.subarray(0, 16)],
])('reports a reply %s as malformed', async (_, reply) => {
  const { server, source } = await serve()
  server.reply = reply
  await expect(source.poll(never())).rejects.toMatchObject({
    code: 'malformed',
    message: expect.stringContaining(`127.0.0.1:${server.port}`),
  })
})

it('reads the values of a reply that is truncated in the list of names', async () => {
  const { server, source } = await serve()
  server.reply = (stat) => stat.subarray(0, stat.length - 5)
  const { fields } = await source.poll(never())
  expect(fields).toMatchObject({ playersOnline: 2, map: 'world' })
  expect(fields.players).toBeUndefined()
})

it('reports a closed port', async () => {
  const { server, source } = await serve()
  closers.pop()
  server.close()
  await expect(source.poll(never())).rejects.toMatchObject({ code: 'refused' })
})

it('agrees with minecraft-server-util about a plain server', async () => {
  const { server, source } = await serve({ plugins: 'Paper on Bukkit 1.21.4: Vault 1.7' })
  const theirs = await queryFull('127.0.0.1', server.port, { enableSRV: false })
  const { fields } = await source.poll(never())
  expect(fields).toMatchObject({
    motd: theirs.motd.clean,
    playersOnline: theirs.players.online,
    players: { players: theirs.players.list.map((name) => ({ name })) },
    plugins: theirs.plugins,
    map: theirs.map,
    software: theirs.software.split(' ')[0],
  })
})

it.skipIf(!hasTool('quakestat'))('is tested against a server that an independent client understands', async () => {
  const { server } = await serve()
  const { stdout } = await promisify(execFile)('quakestat', ['-gs4', `127.0.0.1:${server.port}`, '-R', '-P'])
  expect(stdout).toContain('Alice')
  expect(stdout).toContain('2/20')
})
