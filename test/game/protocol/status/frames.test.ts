import { describe, expect, it } from 'vitest'
import {
  encodeFrame,
  encodeString,
  encodeVarInt,
  FrameReader,
  readString,
  readVarInt,
} from '../../../../src/game/protocol/status/frames.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('VarInt', () => {
  it.each([
    [0, '00'],
    [127, '7f'],
    [128, '8001'],
    [255, 'ff01'],
    [25565, 'ddc701'],
    [2_097_151, 'ffff7f'],
    [2_147_483_647, 'ffffffff07'],
    [-1, 'ffffffff0f'],
    [-2_147_483_648, '8080808008'],
  ])('%i is %s', (value, bytes) => {
    expect(encodeVarInt(value).toString('hex')).toBe(bytes)
    expect(readVarInt(hex(bytes), 0)).toEqual({ value, next: bytes.length / 2 })
  })

  it('is incomplete while bytes are missing, and refused if it is too long', () => {
    expect(readVarInt(hex('ffff'), 0)).toBeUndefined()
    expect(readVarInt(hex('7f'), 1)).toBeUndefined()
    expect(() => readVarInt(hex('ffffffffff01'), 0)).toThrow('longer than 5 bytes')
  })
})

describe('texts', () => {
  it('are decoded', () => {
    expect(encodeString('é').toString('hex')).toBe('02c3a9')
    expect(readString(encodeString('é§a🙂'), 0).value).toBe('é§a🙂')
  })
  it.each(['', '80', '0561', 'ffffffff0f', 'ffffffff07 61'])('that are truncated are refused: "%s"', (bytes) => {
    expect(() => readString(hex(bytes), 0)).toThrow(expect.objectContaining({ code: 'malformed' }))
  })
})

describe('frame reader', () => {
  const stream = Buffer.concat([encodeFrame(0, Buffer.from('first')), encodeFrame(1), encodeFrame(300, Buffer.alloc(70_000, 7))])

  it.each([1, 2, 3, 5, 64, 1_000, 100_000])('assembles frames from chunks of %i bytes', (size) => {
    const reader = new FrameReader()
    const frames: { id: number; body: string }[] = []
    for (let at = 0; at < stream.length; at += size) {
      reader.push(Buffer.from(stream.subarray(at, at + size)))
      for (let frame = reader.next(); frame; frame = reader.next())
        frames.push({ id: frame.id, body: frame.body.toString('hex') })
    }
    expect(frames).toEqual([
      { id: 0, body: Buffer.from('first').toString('hex') },
      { id: 1, body: '' },
      { id: 300, body: '07'.repeat(70_000) },
    ])
  })

  it('never changes a frame that it has returned', () => {
    const reader = new FrameReader()
    reader.push(hex('03 00'))
    reader.push(hex('61 62 02 00'))
    const first = reader.next()
    reader.push(hex('63 03 00 64 65'))
    expect(reader.next()?.body.toString()).toBe('c')
    expect(reader.next()?.body.toString()).toBe('de')
    expect(first?.body.toString()).toBe('ab')
  })

  it.each([
    ['a length of 2 GB', 'ffffffff07', 'too_large'],
    ['a length one above the limit', '80808001', 'too_large'],
    ['a negative length', 'ffffffff0f', 'malformed'],
    ['a length of 0', '00', 'malformed'],
    ['an over-long VarInt', 'ffffffffffffffff', 'malformed'],
    ['a frame that ends within its packet id', '01 80', 'malformed'],
  ])('refuses %s as soon as it is read', (_, bytes, code) => {
    const reader = new FrameReader()
    reader.push(hex(bytes))
    expect(() => reader.next()).toThrow(expect.objectContaining({ name: 'ProtocolError', code }))
  })

  it('accepts the largest frame of the game byte by byte, with proportional time and memory', () => {
    const reader = new FrameReader()
    const before = process.memoryUsage().arrayBuffers
    const frame = encodeFrame(0, Buffer.alloc(2_097_150))
    let maximum = 0
    let early = 0
    for (let at = 0; at < frame.length; at++) {
      if (reader.next() !== undefined) early++
      reader.push(frame.subarray(at, at + 1))
      if (at % 65_536 === 0) maximum = Math.max(maximum, process.memoryUsage().arrayBuffers - before)
    }
    expect(reader.next()?.body.length).toBe(2_097_150)
    expect(early).toBe(0)
    expect(maximum).toBeLessThan(30_000_000)
  })
})
