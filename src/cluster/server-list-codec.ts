import type { ServerSettings } from '../game/server-settings.ts'
import { createPauses } from '../util/pauses.ts'
import { fingerprintOf, nameLength, settingsLength } from './server-fingerprint.ts'

/** The servers that a replica lists: the hash of the settings of each by the hash of its name. */
export type ServerList = ReadonlyMap<string, string>

export interface EncodedList {
  /** The fingerprints one after the other, in any order. */
  readonly text: string
  /** The same for lists of the same servers with the same settings, in whatever order. */
  readonly digest: string
}

const entryLength = nameLength + settingsLength
/** An entry has 120 bits. */
const entryBytes = (entryLength * 3) / 4

/** Encodes a list, in slices. The digest is the exclusive or of all entries, because sorting them takes longer. */
export async function encodeServerList(servers: readonly ServerSettings[]): Promise<EncodedList> {
  const pauses = createPauses()
  const digest = Buffer.alloc(entryBytes)
  let text = ''
  for (const server of servers) {
    if (pauses.isDue()) await pauses.take()
    const { name, settings } = fingerprintOf(server)
    const entry = name + settings
    text += entry
    const bytes = Buffer.from(entry, 'base64url')
    for (let index = 0; index < entryBytes; index++) digest[index] = (digest[index] ?? 0) ^ (bytes[index] ?? 0)
  }
  return { text, digest: `${text.length / entryLength}-${digest.toString('base64url')}` }
}

/** Decodes a list, in slices; undefined if the text is not valid. */
export async function decodeServerList(text: string): Promise<ServerList | undefined> {
  if (text.length % entryLength !== 0) return undefined
  const pauses = createPauses()
  const list = new Map<string, string>()
  for (let start = 0; start < text.length; start += entryLength) {
    if (pauses.isDue()) await pauses.take()
    list.set(text.slice(start, start + nameLength), text.slice(start + nameLength, start + entryLength))
  }
  return list
}

/** The list of a member, in a message. */
export interface AnnouncedList extends EncodedList {
  readonly member: string
}

const messageHeader = /^list (\S+) (\S+)\n/

/** Encodes a list as a message of the channel, for a list that cannot be stored: `list <member> <digest>\n<fingerprints>`. */
export const encodeListMessage = ({ member, digest, text }: AnnouncedList): string => `list ${member} ${digest}\n${text}`

/** Decodes a message of the channel; undefined if it contains no list. */
export function decodeListMessage(message: string): AnnouncedList | undefined {
  const [header, member, digest] = messageHeader.exec(message) ?? []
  if (header === undefined || member === undefined || digest === undefined) return undefined
  return { member, digest, text: message.slice(header.length) }
}
