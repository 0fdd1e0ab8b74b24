import { ProtocolError } from './error.ts'
import { encodeFrame, encodeString, encodeVarInt, type Frame, readString, readVarInt } from './frames.ts'

// The packets of the Server List Ping, for both sides (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping).

/** Packet ids: the handshake, the status request and its reply are all 0; ping and pong are 1. */
export const packetIds = { handshake: 0, status: 0, ping: 1 } as const

export interface Handshake {
  /** -1 by convention where a client only asks. */
  readonly protocol: number
  readonly host: string
  readonly port: number
  /** 1 asks for the status, 2 and 3 log in. */
  readonly next: number
}

export function encodeHandshake({ protocol, host, port, next }: Handshake): Buffer {
  const portBytes = Buffer.from([port >> 8, port & 0xff])
  return encodeFrame(packetIds.handshake, encodeVarInt(protocol), encodeString(host), portBytes, encodeVarInt(next))
}

/** @throws ProtocolError */
export function decodeHandshake({ id, body }: Frame): Handshake {
  if (id !== packetIds.handshake) throw new ProtocolError('malformed', `the first packet has the id ${id}, expected 0`)
  const protocol = readVarInt(body, 0)
  if (protocol === undefined) throw new ProtocolError('malformed', 'the handshake is cut short')
  const host = readString(body, protocol.next)
  const next = readVarInt(body, host.next + 2)
  // The next state follows the port, so where there is one the port is complete too.
  if (next === undefined) throw new ProtocolError('malformed', 'the handshake is cut short')
  return { protocol: protocol.value, host: host.value, port: body.readUInt16BE(host.next), next: next.value }
}

export const statusRequest: Buffer = encodeFrame(packetIds.status)

export function encodeStatus(json: string): Buffer {
  return encodeFrame(packetIds.status, encodeString(json))
}

/**
 * The JSON text of a status reply.
 * @throws ProtocolError
 */
export function decodeStatus({ id, body }: Frame): string {
  if (id !== packetIds.status) throw new ProtocolError('malformed', `the reply has the packet id ${id}, expected 0`)
  return readString(body, 0).value
}

/** A ping; the same bytes are the pong. */
export function encodePing(payload: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(payload)
  return encodeFrame(packetIds.ping, bytes)
}

/** The payload of a ping or pong; undefined for any other packet. */
export function decodePing({ id, body }: Frame): bigint | undefined {
  return id === packetIds.ping && body.length === 8 ? body.readBigInt64BE() : undefined
}
