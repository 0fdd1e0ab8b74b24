import { type Check, isBoolean, isListOf, isNumber, isObject, isOneOf, isText, isTime } from '../game/check.ts'
import type { LiveState } from '../live/state.ts'
import { type Notification, type NotifiedEvent, notifiedEvents } from './notification.ts'
import type { Told } from './rules.ts'

// What is stored in a file, or in Redis, where another program may write it too: a value of another type must neither end the service nor
// keep a channel from what is queued after it.

const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value): value is T | null =>
    value === null || check(value)

const isEvent = isOneOf(...(notifiedEvents as readonly NotifiedEvent[]))
const [text, number, boolean, time] = [orNull(isText), orNull(isNumber), orNull(isBoolean), orNull(isTime)]

/** It is sent as a header, among others. */
const isId: Check<string> = (value): value is string => typeof value === 'string' && /^[\w-]{1,100}$/.test(value)

type Players = NonNullable<LiveState['players']>
const isPlayer = isObject<Players[number]>({ ID: isText, NAME: isText }, {})
const isState = isObject<Partial<LiveState>>(
  {},
  {
    ...{ up: boolean, online: number, max: number, version: text, software: text, motd: text, latency: number },
    ...{ tickRate: number, tickTimeMean: number, tickTimeP99: number, paused: boolean, frozen: boolean, responsive: boolean },
    players: orNull(isListOf(isPlayer) as Check<Players>),
    maintenance: orNull(isObject<NonNullable<LiveState['maintenance']>>({ reason: isText, until: isTime }, {})),
  },
)

export const isNotification = isObject<Notification>(
  {
    ...{ id: isId, at: isTime, queuedAt: isTime, event: isEvent, text: isText },
    ...{ server: text, group: text, error: text, duration: number, state: orNull(isState as Check<LiveState>) },
  },
  {},
)

export const isTold = isObject<Told>(
  {},
  {
    ...{ down: time, hung: time, lagging: time, full: time, empty: time, trouble: time },
    ...{ version: isText, record: isNumber, since: isTime, downAt: isTime, toldAt: isTime, firstSeenAt: isTime },
  },
)
