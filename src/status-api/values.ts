import type { Static } from 'typebox'
import type { Player as KnownPlayer } from '../game/fields.ts'
import type { KnownFields, ServerSnapshot } from '../game/snapshot.ts'
import type { FullInformation, Metadata, Player } from './schemas.ts'

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const toPlayer = ({ name, id }: KnownPlayer): Static<typeof Player> => ({ ID: id ?? '', NAME: name })

/** The players known to be on: the full list where there is one, else the sample. */
export function players({ players }: KnownFields): Static<typeof Player>[] {
  return (players?.value.players ?? []).map(toPlayer).sort((a, b) => compare(a.NAME, b.NAME) || compare(a.ID, b.ID))
}

/** Empty for vanilla. */
export const loaderVersion = ({ loader, loaderVersion }: KnownFields): string | undefined =>
  loader?.value === 'vanilla' ? undefined : loaderVersion?.value

/** Mean milliseconds per tick, at most 7 significant digits. */
export function tickTime({ tickDurationMean }: KnownFields): number | undefined {
  return tickDurationMean && Number((tickDurationMean.value * 1000).toPrecision(7))
}

/** Milliseconds on the service's monotonic clock at which the tick counter was read, or else the server was. */
export function timeReference({ fields, lastContact, at }: ServerSnapshot): number {
  return Math.round(fields.tickCount?.value.at ?? lastContact?.at ?? at)
}

/** Digits without an exponent, which a number as small as 1e-7 has in JavaScript. */
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
