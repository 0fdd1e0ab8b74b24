import { encodeFrame, encodeString, type Frame, readString, readVarInt } from '../../src/game/protocol/status/frames.ts'
import { type Handshake, packetIds } from '../../src/game/protocol/status/status.ts'

/** The handshake of a client. */
export function decodeHandshake({ body }: Frame): Handshake {
  const protocol = readVarInt(body, 0)!
  const host = readString(body, protocol.next)
  const next = readVarInt(body, host.next + 2)!
  return { protocol: protocol.value, host: host.value, port: body.readUInt16BE(host.next), next: next.value }
}

/** A server's answer to the status request. */
export const encodeStatus = (json: string): Buffer => encodeFrame(packetIds.status, encodeString(json))
