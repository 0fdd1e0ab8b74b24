import { describe, expect, it, vi } from 'vitest'
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
    expect(readVarInt(hex('80 01'), 0, 1)).toBeUndefined()
    expect(() => readVarInt(hex('ffffffffff01'), 0)).toThrow('longer than 5 bytes')
  })
})

describe('texts', () => {
  it('are decoded', () => {
    expect(encodeString('é').toString('hex')).toBe('02c3a9')
    expect(readString(encodeString('é§a🙂'), 0).value).toBe('é§a🙂')
    expect(readString(hex('61 00'), 1)).toEqual({ value: '', next: 2 })
  })
  it.each(['', '80', '0561', 'ffffffff0f', 'ffffffff07 61'])('that are truncated are refused: "%s"', (bytes) => {
    expect(() => readString(hex(bytes), 0)).toThrow(
      expect.objectContaining({ code: 'malformed', message: 'a string is longer than its packet' }),
    )
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

  it.each([1, 5, 10])('keeps a copy of an incomplete frame, so that a chunk of %i bytes may be reused', (size) => {
    const reader = new FrameReader()
    const chunk = Buffer.alloc(size)
    const bytes = Buffer.concat([encodeFrame(0, Buffer.from('first')), encodeFrame(1, Buffer.from('second'))])
    const bodies: string[] = []
    for (let at = 0; at < bytes.length; at += size) {
      reader.push(chunk.subarray(0, bytes.copy(chunk, 0, at)))
      for (let frame = reader.next(); frame; frame = reader.next()) bodies.push(frame.body.toString())
    }
    expect(bodies).toEqual(['first', 'second'])
  })

  it('copies no chunk of whole frames', () => {
    const reader = new FrameReader()
    const chunks = [encodeFrame(0, Buffer.from('first')), encodeFrame(0, Buffer.from('second'))]
    const allocate = vi.spyOn(Buffer, 'allocUnsafe')
    for (const chunk of chunks) {
      reader.push(chunk)
      expect(reader.next()?.body.buffer).toBe(chunk.buffer)
      expect(reader.next()).toBeUndefined()
    }
    expect(allocate).not.toHaveBeenCalled()
    allocate.mockRestore()
  })

  it('reserves up to twice the bytes that it holds, and no more than the limit needs', () => {
    const allocate = vi.spyOn(Buffer, 'allocUnsafe')
    const reader = new FrameReader(100)
    const sizes: number[] = []
    reader.push(Buffer.concat([encodeFrame(0, Buffer.alloc(9)), hex('64')]))
    for (let frame = reader.next(); frame; frame = reader.next());
    allocate.mockClear()
    for (let held = 1; held <= 100; held++) {
      reader.push(hex('00'))
      sizes.push(...allocate.mock.calls.map(([size]) => size))
      allocate.mockClear()
      expect(reader.next() === undefined).toBe(held < 100)
    }
    allocate.mockRestore()
    expect(sizes).toEqual([6, 14, 30, 62, 105])
  })

  it.each([
    ['a length of 2 GB', 'ffffffff07', 'too_large', 'the frame length 2147483647 exceeds the limit of 2097151 bytes'],
    ['a length one above the limit', '80808001', 'too_large', 'the frame length 2097152 exceeds the limit of 2097151 bytes'],
    ['a negative length', 'ffffffff0f', 'malformed', 'invalid frame length -1'],
    ['a length of 0', '00', 'malformed', 'invalid frame length 0'],
    ['an over-long VarInt', 'ffffffffffffffff', 'malformed', 'a VarInt is longer than 5 bytes'],
    ['a frame that ends within its packet id', '01 80', 'malformed', 'a frame ends within its packet id'],
  ])('refuses %s as soon as it is read', (_, bytes, code, message) => {
    const reader = new FrameReader()
    reader.push(hex(bytes))
    expect(() => reader.next()).toThrow(expect.objectContaining({ name: 'ProtocolError', code, message }))
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
