import type { Result } from 'ioredis'

/** Milliseconds for which the stream keeps entries, at least: a replica that has missed more loads the snapshots again. */
const keptMs = 10_000

/**
 * Adds an entry to the stream: each has the position of the one before, by which readers notice gaps. Positions increase even if the server
 * has lost its data or its clock was set back. Values of other programs are ignored; a stream that accepts no position is created again.
 */
const post = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function integer(text)
  local value = tonumber(text) or 0
  return value > 0 and value < 1e15 and math.floor(value) or 0
end
local function stateOf(name) return integer(redis.call('HGET', KEYS[2], name)) end
local function post(epoch, known, at, kind, data, text)
  local last = stateOf('position')
  if last == 0 then
    local tail = redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1]
    if tail then last = integer(string.match(tail[1], '[0-9]+')) end
  end
  local position = math.max(last, known, now) + 1
  local entry = {'MINID', '~', string.format('%.0f', math.max(0, position - ${keptMs})), string.format('%.0f-0', position),
    'after', string.format('%.0f', last), 'epoch', string.format('%.0f', epoch), 'at', string.format('%.0f', at),
    'member', ARGV[1], 'kind', kind, 'data', data, 'text', text or ''}
  local failure = redis.pcall('XADD', KEYS[3], unpack(entry)).err
  if failure then
    -- Not if the server is full: after a deletion it would accept everything.
    if string.find(failure, 'equal or smaller') then redis.call('DEL', KEYS[3]) end
    redis.call('XADD', KEYS[3], unpack(entry))
  end
  redis.call('HSET', KEYS[2], 'position', string.format('%.0f', position))
  return position
end`

/**
 * Lua scripts for atomic operations. All keys are in KEYS and those of a script have the same hash tag, so that
 * managed servers in cluster mode accept them too.
 */
export const scripts = {
  /**
   * KEYS members, state, stream; ARGV member, expiry in ms, epoch and position known to the member, `stay` or `leave`, milliseconds for
   * which events must still be recorded (0: no clients here), expiry of the data in ms, then all members that it knows.
   * Returns the epoch, time in ms, whether it has joined other members just now and whether events are recorded, then each member and its expiry.
   */
  stateBeat: {
    numberOfKeys: 3,
    lua: `${post}
local expiry = now + ARGV[2]
-- The clock may have been set back.
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', expiry), '+inf')) do
  redis.call('ZADD', KEYS[1], expiry, member)
end
local isChanged = redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now) > 0
local others = redis.call('ZCARD', KEYS[1])
local hasJoined = 0
if ARGV[5] == 'leave' then
  isChanged = redis.call('ZREM', KEYS[1], ARGV[1]) == 1 or isChanged
elseif redis.call('ZADD', KEYS[1], expiry, ARGV[1]) == 1 then
  isChanged = true
  if others > 0 then hasJoined = 1 end
  -- If there is no other member, nobody has taken over, and the data or the time of all of them was lost.
  if others == 0 then for i = 8, #ARGV do redis.call('ZADD', KEYS[1], expiry, ARGV[i]) end end
end
local epoch = math.max(stateOf('epoch'), ARGV[3])
if isChanged or epoch == 0 then epoch = math.max(epoch + 1, now) end
local watched = math.max(stateOf('watched'), ARGV[6] ~= '0' and now + ARGV[6] or 0)
redis.call('HSET', KEYS[2], 'epoch', string.format('%.0f', epoch), 'watched', string.format('%.0f', watched))
post(epoch, ARGV[4], now, 'beat', '')
for i = 2, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[7]) end
local reply = {epoch, now, hasJoined, watched > now and 1 or 0}
for _, item in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')) do reply[#reply + 1] = item end
return reply`,
  },
  /**
   * KEYS members, state, stream, then a key for each snapshot that is to be stored; ARGV member, epoch, position, data, expiry of the snapshots in
   * ms, times of Redis in ms until which they are accepted and at which they were sent, then the texts of all snapshots, those to be stored
   * first. Returns the position; 0: rejected, because the members have changed or it is late.
   */
  statePost: {
    lua: `${post}
if redis.call('HGET', KEYS[2], 'epoch') ~= ARGV[2] or not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
if now > tonumber(ARGV[6]) then return 0 end
local position = post(ARGV[2], ARGV[3], ARGV[7], 'snapshots', ARGV[4], table.concat(ARGV, '\\n', 8))
local header = ARGV[2] .. ' ' .. ARGV[7] .. ' '
for i = 4, #KEYS do redis.call('SET', KEYS[i], header .. ARGV[i + 4], 'PX', ARGV[5]) end
return position`,
  },
  /**
   * KEYS values, queue; ARGV field, its value before, its value after (empty: none), maximum length, then the items. Returns the number of
   * items for which there was no room; -1: rejected, because the value is another one.
   */
  stateEnqueue: {
    numberOfKeys: 2,
    lua: `if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return -1 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
local dropped = 0
for i = 5, #ARGV do
  if redis.call('LLEN', KEYS[2]) < tonumber(ARGV[4]) then redis.call('RPUSH', KEYS[2], ARGV[i]) else dropped = dropped + 1 end
end
return dropped`,
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
  /**
   * KEYS counter, target; ARGV token, value, expiry in ms (0: none, less: the target is deleted).
   * 0: rejected, because a later holder has taken the lock.
   */
  stateFencedSet: {
    numberOfKeys: 2,
    lua: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2])
if ARGV[3] ~= '0' then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return 1`,
  },
} as const

declare module 'ioredis' {
  interface RedisCommander<Context> {
    stateBeat(...keysAndArguments: readonly (string | number)[]): Result<(string | number)[], Context>
    statePost(keys: number, ...keysAndArguments: readonly (string | number)[]): Result<number, Context>
    stateEnqueue(values: string, queue: string, ...argv: readonly (string | number)[]): Result<number, Context>
    stateLock(lock: string, counter: string, expiryMs: number): Result<number, Context>
    stateFencedSet(
      counter: string,
      target: string,
      token: number,
      value: string | number,
      expiryMs: number,
    ): Result<number, Context>
  }
}
