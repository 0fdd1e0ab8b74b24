import { isRecord } from '../../../util/is-record.ts'
import { maxReplyValues, parseJson } from '../../../util/json.ts'
import { ProtocolError } from '../error.ts'
import type { Player } from '../player.ts'
import { createTextReader, truncate } from '../text.ts'
import { toCount } from '../to-count.ts'
import { normaliseUuid } from '../uuid.ts'
import { parseVersionName } from './version-name.ts'

/** Vanilla sends at most 12; some servers list all players. */
const maxSample = 1_000
/** Far more than any modpack has. */
const maxMods = 10_000
/** Enough for any list of versions that a proxy accepts. */
const maxVersionName = 1_000
/** A 64x64 icon takes at most about 17 kB. */
const maxFavicon = 262_144
/** Protocols of 1.19.1 and, among snapshots, 1.19.2-rc1, and the versions since: an absent `enforcesSecureChat` means false. */
const secureChat = {
  release: 760,
  snapshot: 2 ** 30 + 102,
  versions: /^(?:1\.19\.[1-4]$|1\.[2-9]\d|(?:2[3-9]|[3-9]\d)[.w])/,
} as const
/** Protocol of 1.20.1, the only version for which Forge and NeoForge send the same data. */
const protocolOfSplit = 763

/** The decoded status reply. A value that the server omits, or that is not valid, is absent. */
export interface StatusReply {
  readonly edition: 'java'
  readonly version?: string
  readonly software?: string
  readonly proxy?: true
  readonly acceptedVersions?: string
  readonly protocol?: number
  readonly loader?: string
  readonly loaderVersion?: string
  readonly motd?: string
  readonly formattedMotd?: string
  readonly favicon?: Buffer
  readonly playersOnline?: number
  readonly playersMax?: number
  readonly players?: { readonly players: readonly Player[]; readonly complete: boolean }
  readonly secureChatEnforced?: boolean
  /** The version and counts exactly as sent; the counts may be negative. */
  readonly rawStatus: { readonly version: string; readonly playersOnline?: number; readonly playersMax?: number }
}

/**
 * Parses the JSON of a status reply from an untrusted server. Every part is optional
 * (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping#Status_Response).
 * @param previousIcon the icon of an earlier reply: if it has not changed, it is returned again instead of being decoded
 * @throws ProtocolError `malformed` if it is not a JSON object
 */
export function parseStatusReply(json: string, previousIcon?: Buffer): StatusReply {
  const reply = parseObject(json)
  const version = record(reply.version)
  const players = record(reply.players)
  const protocol = toCount(version.protocol)
  const online = toCount(players.online)
  const max = toCount(players.max)
  const list = playerList(players.sample, online)
  const favicon = decodeFavicon(reply.favicon, previousIcon)
  const readText = createTextReader()
  // First, because a long message leaves no work for it.
  const name = typeof version.name === 'string' ? parseVersionName(readText(version.name, 200).plain) : undefined
  const enforced = secureChatEnforced(reply.enforcesSecureChat, protocol, name?.version)
  const motd = reply.description === undefined || reply.description === null ? undefined : readText(reply.description)
  return {
    edition: 'java',
    ...name,
    ...(protocol !== undefined && { protocol }),
    ...loader(reply, protocol),
    ...(motd !== undefined && { motd: motd.plain }),
    ...(motd !== undefined && motd.formatted !== motd.plain && { formattedMotd: motd.formatted }),
    ...(favicon && { favicon }),
    ...(online !== undefined && { playersOnline: online }),
    ...(max !== undefined && { playersMax: max }),
    ...(list && { players: list }),
    ...(enforced !== undefined && { secureChatEnforced: enforced }),
    rawStatus: {
      version: typeof version.name === 'string' ? truncate(version.name, maxVersionName) : '',
      ...(Number.isSafeInteger(players.online) && { playersOnline: Number(players.online) }),
      ...(Number.isSafeInteger(players.max) && { playersMax: Number(players.max) }),
    },
  }
}

function parseObject(json: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = parseJson(json, maxReplyValues)
  } catch (error) {
    throw new ProtocolError('malformed', `the status reply is ${(error as SyntaxError).message}`)
  }
  if (isRecord(value)) return value
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`
  throw new ProtocolError('malformed', `the status reply is ${kind}, expected a JSON object`)
}

/** Returns an object unchanged, and an empty one for anything else. */
const record = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})

/**
 * Parses the player sample. Hidden players (`Anonymous Player`) and lines of text that plugins add have the nil UUID or are not valid
 * player names (1 to 16 printable ASCII characters without spaces, as required at login); both are dropped. The id is absent if
 * the server sends none or an invalid one. Only an empty server is known to list all its players.
 */
function playerList(sample: unknown, online: number | undefined): StatusReply['players'] | undefined {
  const players = (Array.isArray(sample) ? sample : []).slice(0, maxSample).flatMap((entry) => {
    const { name, id } = record(entry)
    if (typeof name !== 'string' || !/^[!-~]{1,16}$/.test(name)) return []
    const uuid = normaliseUuid(id)
    if (uuid === nilUuid) return []
    return [{ name, ...(uuid !== undefined && { id: uuid }) }]
  })
  if (players.length > 0) return { players, complete: false }
  return online === 0 ? { players, complete: true } : undefined
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

/** Decodes a `data:` URL, whose base64 may contain line breaks. */
function decodeFavicon(value: unknown, previous: Buffer | undefined): Buffer | undefined {
  if (typeof value !== 'string' || value.length > 2 * maxFavicon) return undefined
  const comma = /^data:image\/[\w.+-]{1,40};base64,/.exec(value)?.[0].length
  if (comma === undefined) return undefined
  const text = value.slice(comma)
  if (previous?.toString('base64') === text) return previous
  const bytes = decodeBase64(text)
  return bytes !== undefined && bytes.length > 0 && bytes.length <= maxFavicon ? bytes : undefined
}

/** Undefined if it contains characters other than base64 and white space, which Buffer would skip. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  // Most URLs have no line breaks and complete padding. Encoding the result again takes a fifth of the time of the regular
  // expressions.
  if (bytes.toString('base64') === text) return bytes
  const base64 = text.replace(/\s+/g, '')
  return /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : undefined
}

function secureChatEnforced(value: unknown, protocol: number | undefined, version = ''): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (protocol === undefined) return secureChat.versions.test(version) ? false : undefined
  const known = protocol >= 2 ** 30 ? protocol >= secureChat.snapshot : protocol >= secureChat.release
  return known ? false : undefined
}

/** Detects Forge by `modinfo` (up to 1.12.2) or `forgeData`, and NeoForge by `isModded`. */
function loader(
  reply: Readonly<Record<string, unknown>>,
  protocol: number | undefined,
): Pick<StatusReply, 'loader' | 'loaderVersion'> {
  const { type, modList } = record(reply.modinfo)
  if (type === 'FML') return { loader: 'Forge', ...numberOfMod(modList, 'modid', 'version') }
  const { mods, fmlNetworkVersion } = record(reply.forgeData)
  if (fmlNetworkVersion !== undefined || Array.isArray(mods)) {
    const own = numberOfMod(mods, 'modId', 'modmarker')
    // NeoForge 47.1 still uses the name forge, and there is a Forge 47.1 too.
    const either = protocol === undefined || protocol === protocolOfSplit
    return either && (own.loaderVersion?.startsWith('47.1.') ?? true) ? {} : { loader: 'Forge', ...own }
  }
  return reply.isModded === true ? { loader: 'NeoForge' } : {}
}

function numberOfMod(mods: unknown, idKey: string, versionKey: string): { readonly loaderVersion?: string } {
  if (!Array.isArray(mods)) return {}
  const forge = mods.slice(0, maxMods).find((mod) => ['forge', 'Forge'].includes(record(mod)[idKey] as string))
  const version = record(forge)[versionKey]
  return typeof version === 'string' && /^\d{1,5}(?:\.\d{1,5}){1,4}$/.test(version) ? { loaderVersion: version } : {}
}
