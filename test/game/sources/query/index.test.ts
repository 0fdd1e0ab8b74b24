import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { queryFull } from 'minecraft-server-util'
import { afterEach, expect, it } from 'vitest'
import { createQuerySource } from '../../../../src/game/sources/query/index.ts'
import { silentLog } from '../../../../src/util/log.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { never } from '../../../helpers/never.ts'
import { patientClock } from '../../../helpers/patient-clock.ts'
import { basicStat, type QueryAnswers, queryServer } from '../../../helpers/query-server.ts'
import { hasTool } from '../../../helpers/require-tool.ts'
import { until } from '../../../helpers/until.ts'

const context = { clock: patientClock, log: silentLog, random: () => 0, push() {} }
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
  const clock = { ...patientClock, now: () => now }
  const source = createQuerySource({ host: '127.0.0.1', port: server.port }, { ...context, clock })
  expect((await source.poll(never())).at).toBe(1_400)
})

it('sends lost datagrams again', async () => {
  const { server } = await serve()
  const clock = manualClock()
  const source = createQuerySource({ host: '127.0.0.1', port: server.port }, { ...context, clock })
  server.lose = 1
  const reading = source.poll(never())
  await until(() => server.requests === 1)
  await clock.advance(500)
  expect((await reading).fields.playersOnline).toBe(2)
  expect(server.requests).toBe(3)
})

it.each([
  ['above 0x7f', 'f1440ceb'],
  ['with NULs', '31003200'],
  ['that are no digits only', '2d2d3132'],
])('reads a server whose token is four raw bytes %s, without a NUL after them', async (_, token) => {
  const { source } = await serve({ rawToken: Buffer.from(token, 'hex'), rawTokenEnd: Buffer.alloc(0) })
  expect((await source.poll(never())).fields.playersOnline).toBe(2)
})

it.each([
  ['above 0x7f', 'f1440ceb'],
  ['with NULs', '31003200'],
  ['that are no digits only', '2d2d3132'],
])('reads a server like Nukkit, whose token is four raw bytes %s', async (_, token) => {
  const { source, server } = await serve({
    rawToken: Buffer.from(token, 'hex'),
    gameId: 'MINECRAFTPE',
    version: 'v1.18.30',
    hostname: Buffer.from('Käfig'),
    plugins: 'Nukkit 1.6.0.1-PN (git-0c7be12): PowerNukkit 1.6.0.1',
  })
  expect((await source.poll(never())).fields).toMatchObject({
    edition: 'bedrock',
    motd: 'Käfig',
    version: '1.18.30',
    software: 'Nukkit',
    plugins: ['PowerNukkit 1.6.0.1'],
    map: 'world',
    playersOnline: 2,
    playersMax: 20,
    players: { players: [{ name: 'Alice' }, { name: 'Bob' }], complete: true },
  })
  expect(server.requests).toBe(2)
})

it('reads the bytes that PowerNukkit 1.6.0.1-PN has sent', async () => {
  const values =
    'hostname\0Käfig; Nukkit\0gametype\0SMP\0game_id\0MINECRAFTPE\0version\0v1.18.30\0server_engine\0Nukkit 1.6.0.1-PN (git-0c7be12)\0' +
    'plugins\0Nukkit 1.6.0.1-PN (git-0c7be12): PowerNukkit 1.6.0.1-P\0map\0world\0numplayers\x000\0maxplayers\x0017\0whitelist\0off\0' +
    'hostip\x00127.0.0.1\0hostport\x0039132\0\0\x01player_\0\0\0'
  const body = Buffer.concat([Buffer.from('splitnum\0\x80\0', 'latin1'), Buffer.from(values)])
  const { server, source } = await serve({ rawToken: Buffer.from('41440ceb', 'hex') })
  server.reply = (reply) => (reply[0] === 9 ? reply : Buffer.concat([reply.subarray(0, 5), body]))
  expect((await source.poll(never())).fields).toEqual({
    edition: 'bedrock',
    motd: 'Käfig; Nukkit',
    version: '1.18.30',
    software: 'Nukkit',
    plugins: ['PowerNukkit 1.6.0.1-P'],
    map: 'world',
    levelName: 'world',
    playersOnline: 0,
    playersMax: 17,
    players: { players: [], complete: true },
  })
})

it('reads a basic stat, which is sent in reply to a request for the full one', async () => {
  const { server, source } = await serve()
  server.reply = (stat) => basicStat(stat.subarray(1, 5), { ...server.answers, hostname: Buffer.from('Café') }, server.port)
  expect((await source.poll(never())).fields).toEqual({
    motd: 'Café',
    map: 'world',
    levelName: 'world',
    playersOnline: 2,
    playersMax: 20,
  })
})

it.each(['GeyserMC', 'anything'])('reads a stat like that of Geyser: %s as padding, keys in any order', async (padding) => {
  const { server, source } = await serve()
  const pairs = {
    hostport: '19132',
    numplayers: '3',
    version: 'Geyser (git-master-abc1234) 1.21.130',
    unknown: 'value',
    map: 'Geyser',
    hostname: 'One\0more',
    gametype: 'SMP',
    maxplayers: '100',
    hostip: '0.0.0.0',
    plugins: '',
    game_id: 'MINECRAFT',
  }
  const values = Object.entries(pairs).flat()
  server.reply = (stat) =>
    Buffer.concat([
      stat.subarray(0, 5),
      Buffer.from(`${padding}\0\x80\0${values.join('\0')}\0\0\x01player_\0\0Alice\0Bob\0\0`, 'latin1'),
    ])
  const isGeyser = padding === 'GeyserMC'
  expect((await source.poll(never())).fields).toEqual({
    edition: isGeyser ? 'bedrock' : 'java',
    ...(isGeyser && { software: 'Geyser', version: '1.21.130' }),
    motd: 'One more',
    map: 'Geyser',
    levelName: 'Geyser',
    plugins: [],
    playersOnline: 3,
    playersMax: 100,
    players: { players: [{ name: 'Alice' }, { name: 'Bob' }], complete: false },
  })
})

it('reads a MOTD at the end, and one that is followed by an unknown key', async () => {
  const { server, source } = await serve()
  const motdOf = async (values: string) => {
    server.reply = (stat) =>
      Buffer.concat([stat.subarray(0, 5), Buffer.from(`splitnum\0\x80\0${values}\0\0\x01player_\0\0\0`, 'latin1')])
    return (await source.poll(never())).fields
  }
  expect(await motdOf('map\0one\0numplayers\x001\0hostname\0Last\0of all')).toMatchObject({
    motd: 'Last of all',
    playersOnline: 1,
  })
  expect(await motdOf('hostname\0map\0of\0gametype\0SMP\0map\0one')).toMatchObject({ motd: 'map of', map: 'one' })
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

it('ignores the last value of a reply that is truncated in the values, which may be incomplete', async () => {
  const { server, source } = await serve()
  server.reply = (stat) => stat.subarray(0, stat.indexOf('maxplayers\x0020') + 'maxplayers\x002'.length)
  const { fields } = await source.poll(never())
  expect(fields).toMatchObject({ playersOnline: 2, motd: 'A Minecraft Server' })
  expect(fields).not.toHaveProperty('playersMax')
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
