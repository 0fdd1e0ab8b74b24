import { integer } from '../../settings/kinds/index.ts'
import { setting } from '../../settings/setting.ts'

const limit = integer(1, 10_000_000)

/** Limits per client, so that one client cannot use up what all clients share. */
export const clients = {
  clientProbes: setting({
    env: 'CLIENT_PROBES',
    file: 'clients.probes',
    kind: limit,
    default: '30000',
    meaning: 'maximum number of requests to /probe per minute from one client; further ones get 429',
  }),
  clientRuns: setting({
    env: 'CLIENT_RUNS',
    file: 'clients.runs',
    kind: limit,
    default: '3000',
    meaning: 'maximum number of requests to /v1/run and below per minute from one client; further ones get 429',
  }),
  clientPictures: setting({
    env: 'CLIENT_PICTURES',
    file: 'clients.pictures',
    kind: limit,
    default: '600',
    meaning:
      'maximum number of banners, badges, charts and scaled icons rendered per minute for one client; further ones get 429',
  }),
  clientHeads: setting({
    env: 'CLIENT_HEADS',
    file: 'clients.heads',
    kind: limit,
    default: '3000',
    meaning: 'maximum number of player heads rendered per minute for one client; further ones get 429',
  }),
  clientHeaders: setting({
    env: 'CLIENT_HEADERS',
    file: 'clients.headers',
    kind: limit,
    default: '3000',
    meaning: 'maximum number of requests to /v1/debug/headers per minute from one client; further ones get 429',
  }),
  clientStreams: setting({
    env: 'CLIENT_STREAMS',
    file: 'clients.streams',
    kind: limit,
    default: '200',
    meaning: 'maximum number of open event streams of one client; further ones get 429',
  }),
  clientConnections: setting({
    env: 'CLIENT_CONNECTIONS',
    file: 'clients.connections',
    kind: limit,
    default: '500',
    meaning: 'maximum number of connections of one client, except for the proxies in TRUST_PROXY; further ones get 429',
  }),
} as const
