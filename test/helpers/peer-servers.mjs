// Runs minecraft-protocol's createServer once per version, flying-squid and bedrock-protocol once, in a separate process, because
// they bring hundreds of MB of game data. Writes one line of JSON, {"<name>": port}, when all listen, and ends with its standard
// input.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'

const require = createRequire(join(import.meta.dirname, '../peers/package.json'))
const { createServer } = require('minecraft-protocol')

/** A real 64x64 PNG of one colour, so that there is an icon to compare. */
function icon() {
  const crc = (bytes) => {
    let value = ~0
    for (const byte of bytes) {
      value ^= byte
      for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0)
    }
    return ~value >>> 0
  }
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const ends = Buffer.alloc(8)
    ends.writeUInt32BE(data.length)
    ends.writeUInt32BE(crc(body), 4)
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
  }
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(64 * 3, 0x55)])
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from('00000040000000400802000000', 'hex')),
    chunk('IDAT', deflateSync(Buffer.concat(Array(64).fill(row)))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const favicon = `data:image/png;base64,${icon().toString('base64')}`
const sample = [
  { name: 'Alice', id: 'ec561538-f3fd-461d-aff5-086b22154bce' },
  { name: 'Anonymous Player', id: '00000000-0000-0000-0000-000000000000' },
]
const [bedrockPort, ...versions] = process.argv.slice(2)
const ports = {}

for (const version of versions) {
  const server = createServer({
    host: '127.0.0.1',
    port: 0,
    version,
    'online-mode': false,
    motd: `§6Version ${version}§r\nsecond line`,
    maxPlayers: 42,
    favicon,
    beforePing: (reply) => ({ ...reply, players: { ...reply.players, online: 2, sample } }),
  })
  await new Promise((resolve) => server.on('listening', resolve))
  ports[version] = server.socketServer.address().port
}

const squid = require('flying-squid').createMCServer({
  host: '127.0.0.1',
  port: 0,
  motd: 'A flying squid',
  'max-players': 7,
  'online-mode': false,
  logging: false,
  gameMode: 1,
  difficulty: 1,
  generation: { name: 'superflat', options: { version: '1.16.1' } },
  kickTimeout: 10_000,
  plugins: {},
  modpe: false,
  'view-distance': 2,
  'player-list-text': { header: 'x', footer: 'x' },
  'everybody-op': false,
  'max-entities': 10,
  version: '1.16.1',
})
await new Promise((resolve) => squid._server.on('listening', resolve))
ports['flying-squid'] = squid._server.socketServer.address().port

const bedrock = require('bedrock-protocol').createServer({
  host: '127.0.0.1',
  port: Number(bedrockPort),
  version: '1.26.45',
  offline: true,
  maxPlayers: 12,
  // The JavaScript implementation: the others are native.
  raknetBackend: 'jsp-raknet',
  motd: { motd: '§6Bedrock§r peer', levelName: 'Peer level' },
})
bedrock.on('error', (error) => console.error(error))
ports['bedrock-protocol'] = Number(bedrockPort)

process.stdout.write(`\n${JSON.stringify(ports)}\n`)
process.stdin.on('end', () => process.exit(0)).resume()
