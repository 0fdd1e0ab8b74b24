import { expect, it } from 'vitest'
import { decodeJoinReply } from '../../../../src/game/protocol/status/nethernet.ts'

const reply = { name: 'Bedrock', level: 'World', version: '1.26.51', protocol: 944, players: 3, maxPlayers: 20, gameType: 0 }
const status = {
  motd: 'Bedrock\nWorld',
  version: '1.26.51',
  protocol: 944,
  playersOnline: 3,
  playersMax: 20,
  gameMode: 'survival',
}

it.each([
  [{}, {}],
  [{ level: undefined }, { motd: 'Bedrock' }],
  [{ name: '' }, { motd: 'World' }],
  [{ name: '', level: 7 }, { motd: undefined }],
  [{ name: 'x'.repeat(2_000), level: '' }, { motd: 'x'.repeat(1_000) }],
  [{ protocol: '944' }, {}],
  [{ protocol: '0944' }, {}],
  [{ protocol: 'x944' }, { protocol: undefined }],
  [{ protocol: '944x' }, { protocol: undefined }],
  [{ protocol: '' }, { protocol: undefined }],
  [{ protocol: '12345678901' }, { protocol: undefined }],
  [{ protocol: 0 }, { protocol: 0 }],
  [{ version: '' }, { version: undefined }],
  [{ version: 1.26 }, { version: undefined }],
  [
    { players: 0, maxPlayers: 0 },
    { playersOnline: 0, playersMax: 0 },
  ],
  [
    { players: -1, maxPlayers: 1.5 },
    { playersOnline: undefined, playersMax: undefined },
  ],
  [
    { players: '3', maxPlayers: 2 ** 53 },
    { playersOnline: undefined, playersMax: undefined },
  ],
  [{ gameType: 1 }, { gameMode: 'creative' }],
  [{ gameType: 2 }, { gameMode: 'adventure' }],
  [{ gameType: 6 }, { gameMode: 'spectator' }],
  [{ gameType: 5 }, { gameMode: undefined }],
  [{ gameType: '0' }, { gameMode: undefined }],
])('decodes a join reply with %j', (given, expected) => {
  const decoded = decodeJoinReply(JSON.stringify({ ...reply, ...given }))
  expect(decoded).toStrictEqual(JSON.parse(JSON.stringify({ ...status, ...expected })))
})

it.each(['', 'OK', '[]', 'null', '"text"', '7', '{'])('has no fields for %j', (body) => {
  expect(decodeJoinReply(body)).toStrictEqual({})
})
