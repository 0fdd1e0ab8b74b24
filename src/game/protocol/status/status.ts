import { ProtocolError } from '../error.ts'
import { encodeFrame, encodeString, encodeVarInt, type Frame, readString } from './frames.ts'

// The client side of Server List Ping (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping).

/** Packet ids. The status reply has the id of its request, and the pong that of the ping. */
export const packetIds = { handshake: 0, status: 0, ping: 1 } as const

/** Maximum length of the frame of a status reply: 1 MiB of JSON, its length and the packet id. The game sends at most 96 KiB. */
export const maxStatusFrame = 1024 * 1024 + 4

export interface Handshake {
  /** -1 by convention for a status request. */
  readonly protocol: number
  readonly host: string
  readonly port: number
  /** The next state: 1 status, 2 login, 3 transfer. */
  readonly next: number
}

export function encodeHandshake({ protocol, host, port, next }: Handshake): Buffer {
  const portBytes = Buffer.from([port >> 8, port & 0xff])
  return encodeFrame(packetIds.handshake, encodeVarInt(protocol), encodeString(host), portBytes, encodeVarInt(next))
}

export const statusRequest: Buffer = encodeFrame(packetIds.status)

/**
 * Returns the JSON text of a status reply.
 * @throws ProtocolError
 */
export function decodeStatus({ id, body }: Frame): string {
  if (id !== packetIds.status) throw new ProtocolError('malformed', `the reply has the packet id ${id}, expected 0`)
  return readString(body, 0).value
}

/** Encodes a ping. The pong consists of the same bytes. */
export function encodePing(payload: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(payload)
  return encodeFrame(packetIds.ping, bytes)
}

/** Returns the payload of a pong; undefined for any other packet. */
export function decodePing({ id, body }: Frame): bigint | undefined {
  return id === packetIds.ping && body.length === 8 ? body.readBigInt64BE() : undefined
}

/** Whether bytes begin as the reply to a legacy request: packet id FF and a length below 256, which no frame begins with. */
export function isLegacyReply(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0
}
