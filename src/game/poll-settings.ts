import { duration } from '../settings/kinds/index.ts'
import { setting } from '../settings/setting.ts'

/** How game servers are polled. */
export const poll = {
  interval: setting({
    env: 'POLL_INTERVAL',
    file: 'poll.interval',
    kind: duration('500ms', '1h'),
    default: '5s',
    meaning: 'time between polls',
  }),
  timeout: setting({
    env: 'POLL_TIMEOUT',
    file: 'poll.timeout',
    kind: duration('50ms', '1m'),
    default: '3s',
    meaning: 'timeout of one poll',
  }),
  staleAfter: setting({
    env: 'STALE_AFTER',
    file: 'poll.staleAfter',
    kind: duration('1s', '1d'),
    otherwise:
      '3 poll intervals, or one poll interval and timeout if that is longer; with STATE_URL at least one poll interval and 2 heartbeats',
    meaning: 'age after which values are treated as unknown; at least 3 poll intervals, and one poll interval and timeout',
  }),
} as const
