import { ProtocolError } from './error.ts'
import { encodeFrame, encodeString, encodeVarInt, type Frame, readString } from './frames.ts'

// The packets of the Server List Ping as a client sends and reads them (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping).

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

export const statusRequest: Buffer = encodeFrame(packetIds.status)

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
