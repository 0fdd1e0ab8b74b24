import type { Game } from './identity.ts'
import { versionName } from './status-json.ts'

/**
 * Returns the reply to the ping of a client before 1.7: `FE` (up to 1.3), `FE 01` (1.4, 1.5), `FE 01 FA` with `MC|PingHost` (1.6);
 * undefined for anything else. Modern servers send protocol 127, which matches no old client.
 * @see https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping#1.6
 */
export function legacyReply(request: Buffer, { world, identity }: Game): Buffer | undefined {
  const online = world.players().length
  const { motd } = identity
  const short = request.length === 1
  if (!short && (request[1] !== 0x01 || (request.length > 2 && request[2] !== 0xfa))) return undefined
  const text = short
    ? [motd.replaceAll('§', ''), online, world.maxPlayers].join('§')
    : ['§1', 127, versionName(identity), motd, online, world.maxPlayers].join('\0')
  const units = Buffer.from(text, 'utf16le').swap16()
  const head = Buffer.from([0xff, 0, 0])
  head.writeUInt16BE(text.length, 1)
  return Buffer.concat([head, units])
}
