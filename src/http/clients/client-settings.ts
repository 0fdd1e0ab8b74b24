import { integer } from '../../settings/kinds/index.ts'
import { setting } from '../../settings/setting.ts'

const limit = (name: string, fallback: string, what: string) =>
  setting({
    env: `CLIENT_${name.toUpperCase()}`,
    file: `clients.${name}`,
    kind: integer(1, 10_000_000),
    default: fallback,
    meaning: `maximum number of ${what}; further ones get 429`,
  })

/** Limits per client, so that one client cannot use up what all clients share. */
export const clients = {
  clientProbes: limit('probes', '30000', 'requests to /probe per minute from one client'),
  clientRuns: limit('runs', '3000', 'requests to /v1/run and below per minute from one client'),
  clientPictures: limit('pictures', '600', 'banners, badges, charts and scaled icons rendered per minute for one client'),
  clientHeads: limit('heads', '3000', 'player heads rendered, or requested from HEADS_URL, per minute for one client'),
  clientHeaders: limit('headers', '3000', 'requests to /v1/debug/headers per minute from one client'),
  clientStreams: limit('streams', '200', 'open event streams of one client'),
  clientConnections: limit('connections', '500', 'connections of one client, except for the proxies in TRUST_PROXY'),
} as const
