import { sourceNames } from '../../src/game/sources/names.ts'
import { revision, version } from '../../src/util/package.ts'
import { slowWorkOf } from '../../src/util/slow-work.ts'
import { counter, gauge, type PartFamily } from './family.ts'

/** The build of the service, its settings and its work. */
export const service: readonly PartFamily[] = [
  gauge(
    'tickwarden_build_info',
    'Version of the service and of Node.js as labels; always 1.',
    (_, add) => add(1, version, revision ?? '', process.version),
    { labels: ['version', 'revision', 'node'] },
  ),
  gauge(
    'tickwarden_poll_interval_seconds',
    'Configured time between two polls of a server (POLL_INTERVAL), in seconds.',
    ({ poll }, add) => add(poll.interval / 1000),
  ),
  counter(
    'tickwarden_slow_work_total',
    'Replies and files whose reading held the event loop for more than 100 ms, by source or part.',
    (_, add) => {
      for (const part of [...sourceNames, 'discovery', 'scripts']) add(slowWorkOf(part), part)
    },
    { labels: ['part'] },
  ),
]
