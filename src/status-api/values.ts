import type { KnownFields, ServerSnapshot } from '../game/snapshot.ts'
import { type Player, toPlayers } from '../http/players.ts'
import type { Static } from '../util/schema.ts'
import type { FullInformation, Metadata } from './schemas.ts'

/** The players known to be online: the full list if there is one, else the sample. */
export const players = ({ players }: KnownFields): Static<typeof Player>[] => toPlayers(players?.value.players ?? [])

/** Empty for vanilla. */
export const loaderVersion = ({ loader, loaderVersion }: KnownFields): string | undefined =>
  loader?.value === 'vanilla' ? undefined : loaderVersion?.value

/** Mean milliseconds per tick, at most 7 significant digits. */
export function tickTime({ tickDurationMean }: KnownFields): number | undefined {
  return tickDurationMean && Number((tickDurationMean.value * 1000).toPrecision(7))
}

/** Milliseconds on the service's monotonic clock at which the tick counter was read, or else the server was last reached. */
export function timeReference({ fields, lastContact, at }: ServerSnapshot): number {
  return Math.round(fields.tickCount?.value.at ?? lastContact?.at ?? at)
}

/** Digits without an exponent, which JavaScript uses for numbers as small as 1e-7. */
export const decimalText = (value: number): string => (Math.abs(value) < 1e-6 ? '0' : String(value))

/** @param base path of the server's routes: `/api/v1` */
export function metadata({ fields }: ServerSnapshot, base: string): Static<typeof Metadata> {
  return {
    DESCRIPTION: fields.motd?.value ?? '',
    PLAYERS: {
      MAX: fields.playersMax?.value ?? null,
      ONLINE: fields.playersOnline?.value ?? null,
      PLAYERS: players(fields),
    },
    VERSION: { version: fields.version?.value ?? '', protocol: fields.protocol?.value ?? null },
    FAVICON: `${base}/favicon`,
    SECURE_CHAT_ENFORCED: fields.secureChatEnforced?.value ?? null,
  }
}

/** @param base path of the server's routes: `/api/v1` */
export function fullInformation(snapshot: ServerSnapshot, base: string): Static<typeof FullInformation> {
  const { fields, server } = snapshot
  return {
    SERVER_IP: fields.ip?.value ?? '',
    SERVER_PORT: fields.port?.value ?? null,
    SERVER_NAME: server,
    DEFAULT_GAME_MODE: fields.defaultGameMode?.value ?? '',
    LOADER_VERSION: loaderVersion(fields) ?? '',
    METADATA: metadata(snapshot, base),
    TICKS: fields.tickCount?.value.ticks ?? null,
    TICK_TIME: tickTime(fields) ?? null,
    TIME_REFERENCE: timeReference(snapshot),
  }
}
