import type { Result } from 'ioredis'

/**
 * Lua scripts for atomic operations. All keys are in KEYS and those of a script have the same hash tag, so that
 * managed servers in cluster mode accept them too.
 */
export const scripts = {
  /** KEYS member, index; ARGV token, id, expiry in ms. 0: the key of the member has expired. SADD may fail on a full server. */
  stateBeat: {
    numberOfKeys: 2,
    lua: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.pcall('SADD', KEYS[2], ARGV[2])
return 1`,
  },
  /** KEYS member, index; ARGV token, id. */
  stateLeave: {
    numberOfKeys: 2,
    lua: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('SREM', KEYS[2], ARGV[2])
return 1`,
  },
  /** KEYS member, then one for each snapshot; ARGV token, expiry in ms, channel, then the snapshots. 0: rejected. A full server still publishes them. */
  statePublish: {
    lua: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local failure
for i = 2, #KEYS do
  local reply = redis.pcall('SET', KEYS[i], ARGV[i + 2], 'PX', ARGV[2])
  if reply.err then failure = reply end
  redis.call('PUBLISH', ARGV[3], ARGV[i + 2])
end
return failure or 1`,
  },
  /** KEYS lock, counter; ARGV expiry in ms. Returns the token, or 0 if the lock is held. Tokens increase even if the server has lost its data. */
  stateLock: {
    numberOfKeys: 2,
    lua: `if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local token = math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, now)
redis.call('SET', KEYS[2], string.format('%.0f', token))
redis.call('SET', KEYS[1], string.format('%.0f', token), 'PX', ARGV[1])
return token`,
  },
  /** KEYS lock, counter; ARGV token, expiry in ms. 0: lost. */
  stateRenew: {
    numberOfKeys: 2,
    lua: `if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`,
  },
  /** KEYS lock, counter; ARGV token. */
  stateUnlock: {
    numberOfKeys: 2,
    lua: `if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`,
  },
  /** KEYS counter, target; ARGV token, value. 0: rejected, because a later holder has taken the lock. */
  stateFencedSet: {
    numberOfKeys: 2,
    lua: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2])
return 1`,
  },
} as const

declare module 'ioredis' {
  interface RedisCommander<Context> {
    stateBeat(member: string, index: string, token: string, id: string, expiryMs: number): Result<number, Context>
    stateLeave(member: string, index: string, token: string, id: string): Result<number, Context>
    statePublish(keys: number, ...keysAndArguments: readonly (string | number)[]): Result<number, Context>
    stateLock(lock: string, counter: string, expiryMs: number): Result<number, Context>
    stateRenew(lock: string, counter: string, token: number, expiryMs: number): Result<number, Context>
    stateUnlock(lock: string, counter: string, token: number): Result<number, Context>
    stateFencedSet(counter: string, target: string, token: number, value: string): Result<number, Context>
  }
}
