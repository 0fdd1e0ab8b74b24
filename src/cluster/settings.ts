import { duration, keyPrefix, oneOf, text } from '../settings/kinds/index.ts'
import { type SliceOf, setting } from '../settings/setting.ts'
import { stateAddress } from './address.ts'

/** The state that replicas share. */
export const cluster = {
  stateUrl: setting({
    env: 'STATE_URL',
    file: 'state.url',
    kind: stateAddress,
    otherwise: 'none: one replica',
    meaning: 'Redis or Valkey server through which replicas share the work',
  }),
  statePassword: setting({
    env: 'STATE_PASSWORD',
    file: 'state.password',
    kind: text,
    secret: true,
    otherwise: 'the password in STATE_URL',
    meaning: 'password of the Redis or Valkey server',
  }),
  statePrefix: setting({
    env: 'STATE_PREFIX',
    file: 'state.prefix',
    kind: keyPrefix,
    default: 'tickwarden',
    meaning: 'prefix of all keys; replicas with the same prefix share the work',
  }),
  stateHeartbeat: setting({
    env: 'STATE_HEARTBEAT',
    file: 'state.heartbeat',
    kind: duration('200ms', '1m'),
    default: '5s',
    meaning: 'heartbeat interval; after two intervals without one, other replicas take over the servers of a replica',
  }),
  stateFailOpen: setting({
    env: 'STATE_FAIL_OPEN',
    file: 'state.failOpen',
    kind: oneOf('true', 'false'),
    default: 'true',
    meaning:
      'servers that other replicas stop reporting while STATE_URL is unavailable are polled by every replica until they report them again',
  }),
} as const
export type ClusterSettings = SliceOf<typeof cluster>
