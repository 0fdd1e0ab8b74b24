import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import writeFileAtomic from 'write-file-atomic'

/** What is stored of the access that Spotify gave. */
const Stored = Type.Object({
  /** SHA-256 of the refresh token in the settings that it belongs to: another token there makes it void. */
  of: Type.String(),
  /** When the person agreed, Unix milliseconds; absent where another program asked for the token. */
  granted: Type.Optional(Type.Integer()),
  /** The token that Spotify replaced the one in the settings by. */
  refreshToken: Type.Optional(Type.String()),
})

/** A refresh token and what is known of it. */
export interface Authorisation {
  readonly refreshToken: string
  /** Unix milliseconds from which it is no longer valid; undefined where nobody knows. */
  readonly expires: number | undefined
}

/** Spotify's refresh tokens end this long after the person agreed; one that replaces another is not known to last longer. */
const months = 6

function monthsLater(wall: number): number {
  const date = new Date(wall)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  // 31 August: there is no 31 February.
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date.getTime()
}

const fileOf = (dataDir: string): string => join(dataDir, 'spotify-refresh-token.json')

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

async function readStored(dataDir: string, token: string): Promise<Static<typeof Stored>> {
  const none = { of: digestOf(token) }
  try {
    const value: unknown = JSON.parse(await readFile(fileOf(dataDir), 'utf8'))
    return Value.Check(Stored, value) && value.of === none.of ? value : none
  } catch (error) {
    // Not JSON: the token in the settings still counts.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return none
    throw error
  }
}

const write = (dataDir: string, stored: Static<typeof Stored>): Promise<void> =>
  writeFileAtomic(fileOf(dataDir), `${JSON.stringify(stored)}\n`, { mode: 0o600 })

/** @param token the refresh token in the settings */
export async function readAuthorisation(dataDir: string, token: string): Promise<Authorisation> {
  const { granted, refreshToken = token } = await readStored(dataDir, token)
  return { refreshToken, expires: granted === undefined ? undefined : monthsLater(granted) }
}

/** Stores when a person agreed to the access that a refresh token stands for. @param wall Unix milliseconds */
export const storeGrant = (dataDir: string, token: string, wall: number): Promise<void> =>
  write(dataDir, { of: digestOf(token), granted: wall })

/**
 * Stores the token that Spotify gave in place of another one, readable by this user only.
 * @param token the refresh token in the settings
 */
export async function storeNewToken(dataDir: string, token: string, refreshToken: string): Promise<void> {
  await write(dataDir, { ...(await readStored(dataDir, token)), refreshToken })
}
