import { describe, expect, it } from 'vitest'
import { decodeUnconnectedPong, encodeUnconnectedPing } from '../../../../src/game/protocol/status/unconnected-ping.ts'
import { pong } from '../../../helpers/bedrock-server.ts'

const decode = (text: string) => decodeUnconnectedPong(pong(text)).status

it('encodes a ping', () => {
  expect(encodeUnconnectedPing(258n).toString('hex')).toBe('01000000000000010200ffff00fefefefefdfdfdfd123456780202020202020202')
})

describe('a pong', () => {
  it('is decoded', () => {
    const bytes = pong('MCPE;§aServer;924;1.21.130;2;10;1234;Level;Creative;1;19132;19133;')
    bytes.writeBigInt64BE(7n, 1)
    expect(decodeUnconnectedPong(bytes)).toEqual({
      time: 7n,
      status: {
        motd: '§aServer\nLevel',
        protocol: 924,
        version: '1.21.130',
        playersOnline: 2,
        playersMax: 10,
        gameMode: 'Creative',
      },
    })
  })

  it.each([
    ['MCPE;x;1;1.0;0;20', { motd: 'x', protocol: 1, version: '1.0', playersOnline: 0, playersMax: 20 }],
    // The other fields of Prismarine, which has no ports.
    ['MCPE;x;748;1.21.40;0;20;0;;Creative;1;null;null;', { motd: 'x', protocol: 748, playersMax: 20, gameMode: 'Creative' }],
    ['MCPE;x;-1;;0;20', { motd: 'x', playersOnline: 0, playersMax: 20 }],
    ['MCPE;x;1;1.0;many;-1', { motd: 'x', protocol: 1, version: '1.0' }],
  ])('may omit fields: %s', (text, expected) => {
    expect(decode(text)).toMatchObject(expected)
    if (!text.includes('many')) expect(decode(text).playersOnline).toBe(0)
    else expect(decode(text)).toStrictEqual(expected)
  })

  it.each([
    [String.raw`MCPE;Fun\; games;1;1.0;3;20`, 'Fun; games'],
    [String.raw`MCPE;C:\\;1;1.0;3;20`, 'C:\\'],
    [String.raw`MCPE;a\\\;b;1;1.0;3;20`, String.raw`a\;b`],
    [String.raw`MCPE;a\nb;1;1.0;3;20`, String.raw`a\nb`],
  ])('has escapes in its name: %s', (text, name) => {
    expect(decode(text)).toEqual({ motd: name, protocol: 1, version: '1.0', playersOnline: 3, playersMax: 20 })
  })

  it.each([
    ['MCPE;Fun; games;1;1.0;3;20', 'Fun; games'],
    ['MCPE;Fun;;1;1.0;3;20', 'Fun;'],
    // A part of the name is a number.
    ['MCPE;Top;1;1;1.0;3;20', 'Top;1'],
    ['MCPE;a;1;1.0;9;9;b;1;1.0;3;20', 'a;1;1.0;9;9;b'],
    [';;;MCPE;;1;1.0;3;20', ';;MCPE;'],
  ])('has semicolons in its name that are not escaped: %s', (text, name) => {
    const read = { motd: name, protocol: 1, version: '1.0', playersOnline: 3, playersMax: 20 }
    expect(decode(text)).toEqual(read)
    // As gophertunnel sends it.
    expect(decode(`${text};-7304321;Sub; name;Creative;1;19132;19132;0;`)).toEqual({
      ...read,
      motd: `${name}\nSub; name`,
      gameMode: 'Creative',
    })
  })

  it('whose fields cannot be found yields only the name', () => {
    expect(decode('MCPE;Fun; games;many;1.0;3;20;1;Level')).toEqual({ motd: 'Fun' })
  })

  it.each([
    ['PocketMine-MP', 'PocketMine-MP'],
    [' §lPocketMine-MP§r ', 'PocketMine-MP'],
    ['Powered by Nukkit!', 'Nukkit'],
    ['Powered by Nukkits', undefined],
    ['https://www.powernukkitx.org', 'PowerNukkit'],
    ['PowerNukkit.com', 'PowerNukkit'],
    ['Another Geyser server.', 'Geyser'],
    ['My Geyser', undefined],
  ])('with the level %j is of %s', (level, software) =>
    expect(decode(`MCPE;x;1;1.0;3;20;7;${level};Survival`)).toStrictEqual({
      ...{ motd: `x\n${level}`, protocol: 1, version: '1.0', playersOnline: 3, playersMax: 20, gameMode: 'Survival' },
      ...(software && { software }),
    }),
  )

  it.each([
    ['id', 0],
    ['magic number', 17],
    ['magic number', 32],
  ])('with another %s is refused', (_, index) => {
    const bytes = pong('MCPE;x;1;1.0;3;20')
    bytes[index]! ^= 1
    expect(() => decodeUnconnectedPong(bytes)).toThrow('the reply is not an unconnected pong')
  })

  it('without all of its text, or of its head, is refused, but may be only a head', () => {
    const bytes = pong('MCPE;x;1;1.0;3;20')
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length)
      if (length === 33) expect(decodeUnconnectedPong(cut).status, 'the head alone').toStrictEqual({})
      else expect(() => decodeUnconnectedPong(cut), `${length} bytes`).toThrow('the reply is not an unconnected pong')
    }
    expect(decode('')).toStrictEqual({})
  })

  it('of 8 KiB is read, and one byte more is refused', () => {
    const head = pong('MCPE;;1;1.0;3;20').length
    expect(decode(`MCPE;${'x'.repeat(8_192 - head)};1;1.0;3;20`).motd).toHaveLength(8_192 - head)
    expect(() => decode(`MCPE;${'x'.repeat(8_193 - head)};1;1.0;3;20`)).toThrow('the pong is longer than 8192 bytes')
    expect(() => decode('MCPE;x;1;1.0;3')).toThrow('the pong has 5 fields')
  })

  it('may have bytes after its text', () => {
    expect(decodeUnconnectedPong(Buffer.concat([pong('MCPE;x;1;1.0;3;20'), Buffer.alloc(3)])).status.playersMax).toBe(20)
  })

  it.each([
    ['MCPE;x', 'malformed'],
    ['MCPE;x;1;1.0;3', 'malformed'],
    [`MCPE;${'x'.repeat(9_000)};1;1;1;1`, 'too_large'],
  ])('of %s is refused', (text, code) => {
    expect(() => decode(text)).toThrow(expect.objectContaining({ name: 'ProtocolError', code }))
  })
})
