import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { findCommand } from '../../src/commands/definitions/index.ts'
import { parseArguments } from '../../src/commands/parse-arguments.ts'
import { createAnonymiser, createLeakFinder, replaceInJson } from '../../src/commands/record/anonymiser.ts'
import { runRecord, serverToRecord } from '../../src/commands/record.ts'
import { startBedrockDemoServer } from '../../src/demo/bedrock.ts'
import { type DemoOptions, type DemoServer, demoSettings, startDemoServer } from '../../src/demo/demo-server.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import { createSources } from '../../src/game/sources/create-sources.ts'
import { systemClock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'
import { UsageError } from '../../src/util/usage-error.ts'
import { selfSigned } from '../helpers/certificate.ts'
import { hostileServer } from '../helpers/hostile-servers.ts'
import { alice, managementServer } from '../helpers/management-server.ts'
import { manualClock } from '../helpers/manual-clock.ts'
import { never } from '../helpers/never.ts'
import { startPeerServers } from '../helpers/peer-servers.ts'
import { playBack } from '../helpers/playback.ts'
import { listenRconPeer, packet } from '../helpers/rcon-peer.ts'
import { callProgram } from '../helpers/run-program.ts'
import { encodeStatus } from '../helpers/status-packets.ts'

const newFolder = () => mkdtempSync(join(tmpdir(), 'tickwarden-record-'))
let demo: DemoServer | undefined
afterEach(() => demo?.close())

/** Records a server and returns the folder, the code and what was printed. */
async function record(server: ServerSettings, folder = newFolder()) {
  const [lines, failures]: [string[], string[]] = [[], []]
  const io = { log: (text: string) => lines.push(text), error: (text: string) => failures.push(text) }
  const code = await runRecord(server, folder, never(), io)
  return { folder, code, output: lines.join('\n'), failures: failures.join('\n') }
}

/** Everything in the files of a recording, as bytes and as the texts in them. */
function contentOf(folder: string): string {
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const bytes = texts.flatMap((text) => [...text.matchAll(/"([0-9a-f]{2,})"/g)].map(([, hex = '']) => Buffer.from(hex, 'hex')))
  return [...texts, ...bytes.flatMap((part) => [part.toString('utf8'), part.toString('latin1')])].join('\n')
}

/** The reading of every source of a server, by source. */
async function readAll(sources: ServerSettings['sources']) {
  const context = { clock: systemClock, log: silentLog, random: () => 0, push() {} }
  const set = createSources({ name: 'x', sources }, context)
  try {
    const readings = await Promise.all(set.list().map((source) => source.poll(never())))
    return Object.fromEntries(readings.map(({ source, fields }) => [source, fields]))
  } finally {
    set.close()
  }
}

async function start(options: DemoOptions = {}): Promise<ServerSettings> {
  demo = await startDemoServer({ scenario: 'steady', ...options })
  return demoSettings(demo, 'demo')
}

describe('a recording of the demo server', () => {
  it.each(['1.12.2', '1.16.5', '1.20.4', '1.21.11', '26.3'])(
    'of %s can be played back, and contains no names or secrets',
    async (era) => {
      const server = await start({
        era,
        rconPassword: 'hunter2-rcon',
        managementSecret: 'S'.repeat(40),
        motd: '§6Play on play.realname.net',
      })
      const { folder, code } = await record(server)
      expect(code).toBe(0)
      const expected = ['query.json', 'rcon.json', 'status.json', ...(demo?.management ? ['management.json'] : [])]
      expect(readdirSync(folder).toSorted()).toEqual(expected.toSorted())
      const players = demo!.world.players()
      expect(players.length).toBeGreaterThan(0)
      const content = contentOf(folder)
      const secrets = [
        'hunter2',
        'S'.repeat(40),
        'realname',
        ...players.flatMap(({ name, id }) => [name, id, id.replaceAll('-', '')]),
      ]
      expect(secrets.filter((secret) => content.toLowerCase().includes(secret.toLowerCase()))).toEqual([])

      const [before, playback] = [await readAll(server.sources), await playBack(folder)]
      onTestFinished(playback.close)
      const after = await readAll(playback.sources)
      expect(Object.keys(after)).toEqual(Object.keys(before))
      for (const source of Object.keys(before)) {
        expect([source, Object.keys(after[source] ?? {}).toSorted()]).toEqual([
          source,
          Object.keys(before[source] ?? {}).toSorted(),
        ])
        for (const field of ['version', 'protocol', 'playersOnline', 'playersMax'] as const)
          expect([source, field, after[source]?.[field]]).toEqual([source, field, before[source]?.[field]])
      }
      expect(after.status?.motd).toBe('Play on host1.example.org')
      const names = after.rcon?.players?.players.map(({ name }) => name) ?? []
      expect(names.length).toBe(players.length)
      for (const name of names) expect(name).toMatch(/^Player\d+$/)
      // The same player has the same name everywhere.
      expect(after.query?.players?.players.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    },
  )

  it('of a long player list contains all pieces of the reply', async () => {
    const server = await start({ players: 300, maxPlayers: 400 })
    const { folder } = await record(server)
    const playback = await playBack(folder)
    onTestFinished(playback.close)
    const { rcon } = await readAll(playback.sources)
    expect(rcon?.players).toMatchObject({ complete: true })
    expect(rcon?.players?.players.length).toBe(300)
    const content = contentOf(folder)
    expect(demo!.world.players().filter(({ name }) => content.includes(name))).toEqual([])
  })

  it('over TLS contains the messages of the management protocol', async () => {
    const { key, cert } = selfSigned()
    const server = await start({ managementTls: { key: String(key), cert: String(cert) } })
    const { folder, output } = await record(server)
    expect(output).toContain('management.json: minecraft:players')
    expect(readFileSync(join(folder, 'management.json'), 'utf8')).toContain('Player1')
  })

  it('of Bedrock contains the pong without the identifier of the server', async () => {
    const bedrock = await startBedrockDemoServer({ host: '127.0.0.1', port: 0, players: 3, seed: 1, clock: systemClock })
    onTestFinished(() => bedrock.close())
    const { folder, code } = await record({ name: 'b', sources: { status: { address: bedrock.address } } })
    expect(code).toBe(0)
    const playback = await playBack(folder)
    onTestFinished(playback.close)
    expect((await readAll(playback.sources)).status).toMatchObject({ edition: 'bedrock', playersOnline: 3, transport: 'raknet' })
  })

  it('of a status whose first byte is that of a legacy reply contains no names', async () => {
    const json = (motd: string) =>
      JSON.stringify({ description: motd, players: { online: 1, max: 20, sample: [{ name: alice.name, id: alice.id }] } })
    const motd = Array.from({ length: 256 }, (_, length) => 'x'.repeat(length)).find(
      (text) => encodeStatus(json(text))[0] === 0xff,
    )!
    await using server = await hostileServer((socket) => socket.once('data', () => socket.write(encodeStatus(json(motd)))))
    const address = { edition: 'java', host: '127.0.0.1', port: server.port } as const
    const { folder, code } = await record({ name: 'x', sources: { status: { address } } })
    expect([code, readFileSync(join(folder, 'status.json'), 'utf8')]).toEqual([0, expect.stringContaining('"request": "status"')])
    expect(contentOf(folder)).not.toContain(alice.name)
  })

  it('of a legacy status contains no name after a colour', async () => {
    const motd = '§1\x00127\x001.12.2\x00§aBob’s world\x001\x0020'
    const reply = Buffer.from(`\0${motd}`, 'utf16le').swap16()
    reply.writeUInt16BE(motd.length)
    const kick = Buffer.concat([Buffer.from([0xff]), reply])
    await using server = await hostileServer((socket) => {
      socket.on('data', (bytes) => (bytes[0] === 0xfe ? socket.end(kick) : socket.destroy()))
    })
    const rcon = await listenRconPeer(({ socket, id }) => {
      socket.write(packet(id, 0, 'There are 1/20 players online:\n§7Bob'))
    })
    onTestFinished(() => rcon.close())
    const address = { edition: 'java', host: '127.0.0.1', port: server.port } as const
    const sources = { status: { address }, rcon: { address: rcon.address, password: 'x' } }
    const { folder, code } = await record({ name: 'x', sources })
    const { received } = JSON.parse(readFileSync(join(folder, 'status.json'), 'utf8')).exchanges[0]
    const text = Buffer.from(received[0].slice(6), 'hex').swap16().toString('utf16le')
    expect([code, text]).toEqual([0, '§1\x00127\x001.12.2\x00§aPlayer1’s world\x001\x0020'])
    expect(contentOf(folder)).not.toContain('Bob')
  })

  it('of a status with a player whose name is no text is written', async () => {
    const status = encodeStatus('{"players":{"online":1,"max":20,"sample":[{"name":{"toString":1}}]}}')
    await using server = await hostileServer((socket) => socket.once('data', () => socket.write(status)))
    const address = { edition: 'java', host: '127.0.0.1', port: server.port } as const
    const { folder, code } = await record({ name: 'x', sources: { status: { address } } })
    expect([code, readFileSync(join(folder, 'status.json'), 'utf8')]).toEqual([0, expect.stringContaining('"request": "status"')])
  })

  it('is the same each time', async () => {
    // While the time of the world stands still, so does the order of the players in its status.
    const server = await start({ clock: manualClock() })
    const texts = async () => {
      const { folder } = await record(server)
      return readFileSync(join(folder, 'management.json'), 'utf8')
    }
    expect(await texts()).toBe(await texts())
  })
})

describe('tickwarden record', () => {
  it.each(['minecraft', 'password', 'players'])('accepts %s as a password', async (rconPassword) => {
    const server = await start({ rconPassword })
    const { folder, output } = await record(server)
    expect(output).not.toContain('nothing was written')
    const playback = await playBack(folder)
    onTestFinished(playback.close)
    expect((await readAll(playback.sources)).management).toMatchObject({ version: '1.21.11' })
  })

  it.each([
    'Es sind 2 von maximal 20 Spielern da: Alice, Bob',
    'Il y a 2 joueurs : Alice, Bob',
    '§6Alice§r, §6Bob',
    'There are 2 of a max of 20 players online: Alice, Bob, Carol',
    'Usage: /list. Online: Alice, Bob',
  ])('omits a list of players that is not understood: %s', async (list) => {
    const isList = (body: string) => body.includes('list')
    const rcon = await listenRconPeer(({ socket, id, body }) => {
      socket.write(packet(id, 0, isList(body) ? list : 'Unknown command'))
    })
    onTestFinished(() => rcon.close())
    const server = { name: 'x', sources: { rcon: { address: rcon.address, password: 'x' } } }
    const { folder, code, output } = await record(server)
    expect(code).toBe(0)
    expect(output).toMatch(/omitted: {2}list[^:]*: names in the reply cannot be distinguished from other words/)
    expect(contentOf(folder)).not.toMatch(/Alice|Bob/)
    expect(contentOf(folder)).toContain('time query gametime')
  })

  it('omits no reply of a server without a list of players', async () => {
    const rcon = await listenRconPeer(({ socket, id, body }) => {
      socket.write(packet(id, 0, body === 'list' ? '' : '§cUnknown command'))
    })
    onTestFinished(() => rcon.close())
    const { output } = await record({ name: 'x', sources: { rcon: { address: rcon.address, password: 'x' } } })
    expect(output).toMatch(/rcon\.json: login, .*list uuids/)
    expect(output).not.toContain('omitted')
  })

  it('replaces the name of a player without a UUID', async () => {
    const server = await managementServer()
    onTestFinished(() => server.close())
    Object.assign(server.results, { 'minecraft:players': [{ name: 'Bob' }] })
    const { url, secret } = server
    const { folder } = await record({ name: 'x', sources: { management: { url, secret } } })
    expect(contentOf(folder)).toContain('Player1')
    expect(contentOf(folder)).not.toContain('Bob')
  })

  it('continues if a protocol fails, and reports it', async () => {
    const server = await start()
    const { rcon, ...sources } = server.sources
    const { folder, code, output, failures } = await record({
      ...server,
      sources: { ...sources, rcon: { ...rcon, password: 'wrong-password' } },
    })
    expect(code).toBe(0)
    expect(failures).toMatch(/^rcon: .*rejected the RCON password$/)
    expect(readdirSync(folder)).not.toContain('rcon.json')
    expect(contentOf(folder) + output + failures).not.toContain('wrong-password')
  })

  it('reports a wrong secret of the management protocol', async () => {
    const { management } = (await start()).sources
    const { code, failures } = await record({ name: 'x', sources: { management: { ...management, secret: 'wrong' } } })
    expect([code, failures]).toEqual([1, expect.stringMatching(/^management: .*: the management secret is wrong$/m)])
  })

  it('exits with 1 if nothing was recorded, and creates no folder', async () => {
    const { sources } = await start()
    await demo?.close()
    const { query, status } = sources
    const parent = newFolder()
    const folder = join(parent, 'recording')
    const { code, output, failures } = await record({ name: 'x', sources: { status: status!, query: query! } }, folder)
    expect([code, output, readdirSync(parent)]).toEqual([1, '', []])
    const refused = [status!, query!].map(({ address }) => `127\\.0\\.0\\.1:${address!.port}: connection refused .*\n`)
    expect(failures).toMatch(new RegExp(`^status: ${refused[0]}query: ${refused[1]}nothing was recorded$`))
  })

  it('omits messages of the management protocol that are not JSON', async () => {
    const server = await managementServer()
    onTestFinished(() => server.close())
    Object.defineProperty(server.results, 'minecraft:players', {
      get() {
        server.send('{"method": Alice')
        return [alice]
      },
    })
    const { url, secret } = server
    const { folder, code, output } = await record({ name: 'x', sources: { management: { url, secret } } })
    expect(code).toBe(0)
    expect(output).toContain('omitted:  messages that are not valid JSON: 1')
    expect(contentOf(folder)).toContain('Player1')
    expect(contentOf(folder)).not.toContain('Alice')
  })

  it('refuses a folder that is not empty, and a proxy', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'mine'), '')
    const server = await start()
    await expect(record(server, folder)).rejects.toThrow(UsageError)
    expect(readdirSync(folder)).toEqual(['mine'])
    const via = { type: 'socks5', host: '127.0.0.1', port: 1 } as const
    await expect(record({ ...server, via: via as unknown as NonNullable<ServerSettings['via']> })).rejects.toThrow('MC_VIA')
  })

  it('refuses a folder that cannot be created or is a file, before it polls the server', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    await using server = await hostileServer(() => {
      throw new Error('it was polled')
    })
    const address = { edition: 'java', host: '127.0.0.1', port: server.port } as const
    for (const [folder, message] of [
      [file, 'cannot be written to (ENOTDIR); choose'],
      [join(file, 'recording'), 'cannot be written to (ENOTDIR); choose'],
      ['/proc/recording', 'cannot be created (E'],
    ] as const)
      await expect(record({ name: 'x', sources: { status: { address } } }, folder)).rejects.toThrow(`${folder} ${message}`)
  })

  it('takes the address as its argument and credentials from the environment', async () => {
    const { sources } = await start()
    const folder = newFolder()
    const { port } = sources.status!.address!
    const env = { MC_RCON: `127.0.0.1:${sources.rcon!.address!.port}`, MC_RCON_PASSWORD: sources.rcon!.password }
    const { code, out } = await callProgram(['record', `127.0.0.1:${port}`, '--output', 'out'], env, folder)
    expect(code).toBe(0)
    expect(out).toContain('status.json: status, ping')
    expect(out).toContain('rcon.json: login, ')
    expect(readdirSync(join(folder, 'out'))).toEqual(['rcon.json', 'status.json'])
    const wrong = await callProgram(['record', 'not an address'], {}, folder)
    expect(wrong).toEqual({ code: 2, out: '', err: expect.stringContaining('not an address') })
  })
})

describe('the server of tickwarden record', () => {
  const stop = never()
  const sourcesFor = async (args: readonly string[], file: string) => {
    const path = join(newFolder(), 'tickwarden.yaml')
    writeFileSync(path, file)
    const command = findCommand('record')!
    const parsed = await parseArguments(command, [...args, '--config', path])
    return serverToRecord({ ...parsed, command, commands: [], stop }).sources
  }
  const entry = (name: string) => `  - { name: ${name}, address: ${name}.test, rcon: { address: ${name}.test, password: x } }\n`
  const file = `servers:\n${entry('one')}${entry('two')}`
  const rconOf = (host: string) => ({ rcon: { address: { host, port: 25575 }, password: 'x' } })

  it('has the sources that are configured for its address, not those of another server', async () => {
    expect(await sourcesFor(['one.test'], file)).toMatchObject(rconOf('one.test'))
    expect(await sourcesFor(['two.test'], file)).toMatchObject(rconOf('two.test'))
    expect(Object.keys(await sourcesFor(['three.test'], file))).toEqual(['status'])
  })

  it('has the sources of the flags', async () => {
    const password = join(newFolder(), 'password')
    writeFileSync(password, 'x')
    const flags = ['--mc-rcon', 'three.test', '--mc-rcon-password-file', password]
    expect(await sourcesFor(['three.test', ...flags], file)).toMatchObject(rconOf('three.test'))
    expect(await sourcesFor(['two.test', ...flags], file)).toMatchObject(rconOf('three.test'))
  })

  it('has the sources that are configured without an address', async () => {
    const folder = `servers:\n  - { name: one, directory: "${newFolder()}", rcon: { address: one.test, password: x } }\n`
    expect(await sourcesFor(['three.test'], folder)).toMatchObject(rconOf('one.test'))
  })
})

describe('servers of other projects', () => {
  it('minecraft-protocol, flying-squid and bedrock-protocol are recorded and played back', async () => {
    const { ports, close } = await startPeerServers(['1.21.4'])
    onTestFinished(close)
    for (const [name, port] of Object.entries(ports)) {
      const edition = name === 'bedrock-protocol' ? 'bedrock' : 'java'
      const address = { edition, host: '127.0.0.1', port } as const
      const { folder, code } = await record({ name, sources: { status: { address } } })
      expect([name, code]).toEqual([name, 0])
      expect(contentOf(folder)).not.toMatch(/Alice|ec561538/)
      const playback = await playBack(folder)
      onTestFinished(playback.close)
      const [before, after] = [await readAll({ status: { address } }), await readAll(playback.sources)]
      const { players, latency, port: _port, rawStatus, ...rest } = before.status!
      expect(after.status).toMatchObject(rest)
      expect(after.status?.players?.players.length).toBe(players?.players.length)
      if (edition === 'bedrock') expect(contentOf(folder)).toMatch(/MCPE;(?:[^;]*;){5}1;/)
    }
  })
})

describe('the anonymiser', () => {
  const known = {
    players: [
      { name: 'Alice', id: '12345678-1234-4234-8234-1234567890ab' },
      { name: 'Bob' },
      { name: '§6Welcome' },
      { name: 'The Admin' },
    ],
    hosts: ['mc.mine.net', '203.0.113.5'],
    secrets: ['pa$$word'],
  }
  const replace = createAnonymiser(known)

  it.each([
    ['Alice and bob met Alicia', 'Player1 and Player2 met Alicia'],
    ['the secret is pa$$word', 'the secret is secret'],
    ['§aAlice§r met §l§bBob on §6play.other.org', '§aPlayer1§r met §l§bPlayer2 on §6host1.example.org'],
    ['§cThe Admin§r, §apa$$word', '§cPlayer3§r, §asecret'],
    ['§The Admin, §pa$$word', '§Player3, §secret'],
    ['&aAlice&r met &l&bBob&7, not &Alicia or #Bobby', '&aPlayer1&r met &l&bPlayer2&7, not &Alicia or #Bobby'],
    ['Tom&alice, §alice, #bob', 'Tom&Player1, §Player1, #Player2'],
    ['&#12AB34Alice, §#12ab34Bob, #12ab34The Admin', '&#12AB34Player1, §#12ab34Player2, #12ab34Player3'],
    ['§6Welcome to §b123456781234423482341234567890ab', 'Player4 to §b00000000000040008000000000000001'],
    [
      '12345678-1234-4234-8234-1234567890AB, 123456781234423482341234567890ab',
      '00000000-0000-4000-8000-000000000001, 00000000000040008000000000000001',
    ],
    ['join mc.mine.net or 203.0.113.5, play.other.org', 'join mc.example.org or 192.0.2.1, host1.example.org'],
    ['from 198.51.100.7.', 'from 192.0.2.2.'],
    ['[2001:db8:0:0::5]:25565 at 12:30:45', '[2001:db8::1]:25565 at 12:30:45'],
    ['§6203.0.113.9, §a2001:db8::9', '§6192.0.2.3, §a2001:db8::2'],
    ['Paper on Bukkit 1.21.4-R0.1-SNAPSHOT', 'Paper on Bukkit 1.21.4-R0.1-SNAPSHOT'],
    ['00000000-0000-0000-0000-000000000000 127.0.0.1', '00000000-0000-0000-0000-000000000000 127.0.0.1'],
    ['&cpa$$word &f203.0.113.8 &12001:db8::7', '&csecret &f192.0.2.4 &12001:db8::3'],
    ['#FF0000203.0.113.8, &a123456781234423482341234567890ab', '#FF0000192.0.2.4, &a00000000000040008000000000000001'],
    ['münchen.de, мой-сервер.рф, mc.xn--mnchen-3ya.xn--p1ai', 'host2.example.org, host3.example.org, host4.example.org'],
    ['0123456789abcdef0123456789ABCDEF', '00000000000040008000000000000002'],
    [
      'Owner:[I;305419896,305414708,-2110516684,1450741931], [I; 1, 2, 3, 4], [I;0,0,0,0]',
      'Owner:[I; 0, 16384, -2147483648, 1], [I; 0, 16384, -2147483648, 3], [I; 0, 0, 0, 0]',
    ],
    ['Chat:\n[mc.mine.net] hi, \u001b[38:5:9mBob', 'Chat:\n[mc.example.org] hi, \u001b[38:5:9mPlayer2'],
    ['\u001b[31mAlice\u001b[0;1mThe Admin\u001b[m203.0.113.8', '\u001b[31mPlayer1\u001b[0;1mPlayer3\u001b[m192.0.2.4'],
  ])('replaces %j by %j', (text, expected) => {
    expect(replace(text)).toBe(expected)
  })

  it('keeps all other bytes of JSON, and decodes escapes', () => {
    expect(replaceInJson('{"a" : "\\u0041lice\\nplay.other.org", "b":"\\u00e9"}', replace)).toBe(
      '{"a" : "Player1\\nhost1.example.org", "b":"\\u00e9"}',
    )
  })

  it('finds remaining names and secrets', () => {
    const findLeaks = createLeakFinder(known)
    for (const text of [
      'Alice',
      '§aAlice',
      '&aAlice',
      '\u001b[33mAlice',
      '\n[mc.mine.net]',
      'pa$$word',
      'mc.mine.net',
      '123456781234423482341234567890ab',
    ])
      expect(findLeaks(Buffer.from(`x ${text}.`)), text).not.toEqual([])
    expect(findLeaks(Buffer.from('x Alice', 'utf16le').swap16())).not.toEqual([])
    expect(findLeaks(Buffer.from('Alicia plays'))).toEqual([])
  })
})
