import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../../../../src/game/protocol/error.ts'
import { isRconCommand, rconCommands } from '../../../../src/game/protocol/rcon/commands.ts'
import {
  decodeChunk,
  encodeCommand,
  encodeEndMark,
  encodeLogin,
  encodeRconPacket,
  maxPacketLength,
  maxSentBody,
  RconDecoder,
} from '../../../../src/game/protocol/rcon/packets.ts'

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')
const decode = (...chunks: readonly Buffer[]) => {
  const decoder = new RconDecoder()
  return chunks.flatMap((chunk) => [...decodeChunk(decoder, chunk)])
}
const int32 = (value: number) => {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32LE(value)
  return buffer
}

describe('packets that are sent', () => {
  it('are the bytes that the game reads', () => {
    expect(encodeLogin(1, 'pässword')).toEqual(bytes('13000000 01000000 03000000 70c3a4 7373776f7264 0000'))
    expect(encodeCommand(2, 'list')).toEqual(bytes('0e000000 02000000 02000000 6c697374 0000'))
    expect(encodeEndMark(0x01020304)).toEqual(bytes('0a000000 04030201 64000000 0000'))
  })

  it('do not exceed what the game reads at a time', () => {
    expect(encodeLogin(1, 'x'.repeat(maxSentBody))).toHaveLength(1460)
    expect(() => encodeLogin(1, 'x'.repeat(maxSentBody + 1))).toThrow(RangeError)
  })
})

describe('commands', () => {
  it('are these, so that the list is not changed by accident', () => {
    expect(rconCommands).toEqual([
      'tick query',
      'time query gametime',
      'time query daytime',
      'time query day',
      'time query time',
      'time query day repetition',
      'minecraft:time query gametime',
      'minecraft:time query daytime',
      'minecraft:time query day',
      'minecraft:time query time',
      'minecraft:time query day repetition',
      'list uuids',
      'minecraft:list uuids',
      'list',
      'tps',
      'spigot:tps',
      'mspt',
      'forge tps',
      'neoforge tps',
      'difficulty',
      'version',
    ])
    expect(Object.isFrozen(rconCommands)).toBe(true)
    expect(() => (rconCommands as unknown as string[]).push('stop')).toThrow(TypeError)
  })

  it('outside the list are refused, by the compiler and at run time', () => {
    // @ts-expect-error not a command of the list
    expect(() => encodeCommand(1, 'stop')).toThrow(TypeError)
    for (const other of ['stop', 'tick query\nstop', 'LIST', ' list', 'list ', '', 'time set 0', '__proto__', 'constructor']) {
      expect(isRconCommand(other)).toBe(false)
      expect(() => encodeCommand(1, other as 'list')).toThrow('list of allowed commands')
    }
  })
})

describe('packets that arrive', () => {
  const packet = { id: 7, type: 0, body: 'There are 0 of a max of 20 players online: ◴' }

  it('are decoded whole, byte by byte, and several in one chunk', () => {
    const wire = encodeRconPacket(packet)
    expect(decode(wire)).toEqual([packet])
    expect(decode(...[...wire].map((byte) => Buffer.of(byte)))).toEqual([packet])
    expect(decode(Buffer.concat(Array(50).fill(wire)))).toEqual(Array(50).fill(packet))
    for (let cut = 0; cut <= wire.length; cut++) {
      const twice = Buffer.concat([wire, wire])
      expect(decode(twice.subarray(0, cut), twice.subarray(cut))).toEqual([packet, packet])
    }
  })

  it('are not affected if the chunk is overwritten after the call, since all sockets read into one buffer', () => {
    const wire = encodeRconPacket(packet)
    for (let cut = 0; cut <= wire.length; cut++) {
      const decoder = new RconDecoder()
      const decoded = [wire.subarray(0, cut), wire.subarray(cut)].flatMap((part) => {
        const chunk = Buffer.from(part)
        const packets = [...decodeChunk(decoder, chunk)]
        chunk.fill(0xff)
        return packets
      })
      expect(decoded).toEqual([packet])
    }
  })

  it('may be empty, and may be as long as the limit', () => {
    expect(decode(bytes('0a000000 ffffffff 02000000 0000'))).toEqual([{ id: -1, type: 2, body: '' }])
    const long = { id: 1, type: 0, body: 'x'.repeat(maxPacketLength - 10) }
    expect(decode(encodeRconPacket(long, maxPacketLength))).toEqual([long])
  })

  it.each([-2_147_483_648, -1, 0, 9, maxPacketLength + 1, 2_147_483_647])(
    'with a length of %i are rejected immediately',
    (length) => {
      expect(() => decode(int32(length))).toThrow(new ProtocolError('malformed', `invalid packet length ${length}`))
    },
  )

  it('without the closing NULs are refused', () => {
    expect(() => decode(bytes('0a000000 01000000 00000000 0001'))).toThrow(
      expect.objectContaining({ code: 'malformed', message: 'the packet does not end with two NULs' }),
    )
  })
})
