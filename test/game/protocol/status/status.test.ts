import { expect, it } from 'vitest'
import { type Frame, FrameReader } from '../../../../src/game/protocol/status/frames.ts'
import {
  decodePing,
  decodeStatus,
  encodeHandshake,
  encodePing,
  isLegacyReply,
  maxStatusFrame,
  statusRequest,
} from '../../../../src/game/protocol/status/status.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const frame = (bytes: Buffer): Frame => {
  const reader = new FrameReader()
  reader.push(bytes)
  return reader.next()!
}

it('encodes the packets of the protocol', () => {
  const handshake = { protocol: -1, host: 'mc.example.org', port: 25565, next: 1 }
  expect(encodeHandshake(handshake)).toEqual(hex('18 00 ffffffff0f 0e 6d632e6578616d706c652e6f7267 63dd 01'))
  expect(statusRequest).toEqual(hex('01 00'))
  expect(encodePing(1n)).toEqual(hex('09 01 0000000000000001'))
})

it('decodes the reply of a server', () => {
  expect(decodeStatus(frame(hex('06 00 04 22c3a922')))).toBe('"é"')
  expect(decodePing(frame(encodePing(-5n)))).toBe(-5n)
  expect(decodePing(frame(hex('05 01 00000000')))).toBeUndefined()
  expect(decodePing(frame(hex('09 02 0000000000000001')))).toBeUndefined()
})

it.each(['01 00', '03 00 7f 7b', '04 01 02 7b 7d', '06 00 ffffffff0f'])('refuses the status %s', (bytes) => {
  expect(() => decodeStatus(frame(hex(bytes)))).toThrow(expect.objectContaining({ code: 'malformed' }))
})

it('refuses a reply with another packet id', () => {
  expect(() => decodeStatus(frame(hex('02 01 00')))).toThrow('the reply has the packet id 1, expected 0')
})

it('recognises a legacy reply, which no frame begins like', () => {
  expect(['ff 00 10', 'ff 00', 'ff 01', '06 00', ''].map((bytes) => isLegacyReply(hex(bytes)))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  expect(maxStatusFrame).toBe(1_048_580)
})
