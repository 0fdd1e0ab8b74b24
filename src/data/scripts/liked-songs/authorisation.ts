import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Static, Type } from '../../../util/schema.ts'
import { readStateFile, writeStateFile } from '../state-file.ts'

const Stored = Type.Object({
  /** SHA-256 of the refresh token in the settings. If that token changes, the file is ignored. */
  of: Type.String(),
  /** When the user authorised access, Unix milliseconds; absent if another program obtained the token. */
  granted: Type.Optional(Type.Integer()),
  /** The token that Spotify issued in place of the one in the settings. */
  refreshToken: Type.Optional(Type.String()),
})

/** Spotify's refresh tokens expire this many months after the user authorised access; a replaced token may not last longer. */
const months = 6

function monthsLater(wall: number): number {
  const date = new Date(wall)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  // From 31 August: February has no 31st.
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date.getTime()
}

const fileOf = (dataDir: string): string => join(dataDir, 'spotify-refresh-token.json')

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

async function readStored(dataDir: string, token: string): Promise<Static<typeof Stored>> {
  const stored = await readStateFile(fileOf(dataDir), Stored, 65_536)
  const of = digestOf(token)
  return stored?.of === of ? stored : { of }
}

const write = (dataDir: string, stored: Static<typeof Stored>): Promise<void> =>
  writeStateFile(fileOf(dataDir), stored, { mode: 0o600 })

/** Reads the current refresh token. @param token the refresh token in the settings */
export async function readAuthorisation(dataDir: string, token: string) {
  const { granted, refreshToken = token } = await readStored(dataDir, token)
  /** When it expires, Unix milliseconds; undefined if unknown. */
  const expires = granted === undefined ? undefined : monthsLater(granted)
  return { refreshToken, expires }
}

/** Stores when the user authorised access by this refresh token. @param wall Unix milliseconds */
export const storeGrant = (dataDir: string, token: string, wall: number): Promise<void> =>
  write(dataDir, { of: digestOf(token), granted: wall })

/**
 * Stores a token that Spotify issued in place of the current one, readable by this user only.
 * @param token the refresh token in the settings
 */
export async function storeNewToken(dataDir: string, token: string, refreshToken: string): Promise<void> {
  await write(dataDir, { ...(await readStored(dataDir, token)), refreshToken })
}
