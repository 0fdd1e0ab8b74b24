import { environmentList, type ListStatus } from '../../src/discovery/status.ts'
import { gauge, type Observed, type PartFamily } from './family.ts'

/** One sample for each provider whose value is known. */
function ofProvider(name: string, help: string, value: (lists: readonly ListStatus[]) => number | undefined): PartFamily {
  const read: PartFamily['read'] = ({ discovery }, add) => {
    const lists = discovery?.status() ?? []
    for (const one of new Set(lists.map(({ provider }) => provider)))
      add(value(lists.filter(({ provider }) => provider === one)), one)
  }
  return gauge(name, help, read, { labels: ['provider'] })
}

/** Undefined if one of the values is undefined. */
function combined(values: readonly (number | undefined)[], combine: (known: readonly number[]) => number): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length < values.length ? undefined : combine(known)
}

/** The configuration file, if there is one: it is a list of servers too. */
const configOf = ({ discovery }: Observed): ListStatus | undefined =>
  discovery
    ?.status()
    .find(({ provider, name, state }) => provider === 'config' && name !== environmentList && state !== 'pending')

const secondsOf = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000

export const discovery: readonly PartFamily[] = [
  ofProvider(
    'tickwarden_discovery_up',
    '1 if the last read of every server list of the provider succeeded, 0 if one failed; absent before the first read.',
    (lists) =>
      lists.some(({ state }) => state === 'failed') ? 0 : lists.some(({ state }) => state === 'pending') ? undefined : 1,
  ),
  ofProvider(
    'tickwarden_discovery_servers',
    'Watched servers that come from the provider; absent if one of its lists has never been read.',
    (lists) =>
      combined(
        lists.map(({ servers }) => servers),
        (counts) => counts.reduce((sum, count) => sum + count, 0),
      ),
  ),
  ofProvider(
    'tickwarden_discovery_refused_servers',
    'Entries of the provider that are not watched because they are not valid or their name is already in use.',
    (lists) => lists.reduce((sum, { refused }) => sum + refused.length, 0),
  ),
  ofProvider(
    'tickwarden_discovery_last_success_timestamp_seconds',
    'Unix time of the last successful read of the provider, in seconds; the oldest one if it has several lists. Files are read when they change.',
    (lists) =>
      combined(
        lists.map(({ readAt }) => readAt),
        (times) => Math.min(...times) / 1000,
      ),
  ),
  gauge(
    'tickwarden_config_last_reload_successful',
    '1 if the last read of the configuration file succeeded, 0 if it failed and the previous configuration remains; absent without a file.',
    (observed, add) => add(configOf(observed) && configOf(observed)?.state !== 'failed'),
  ),
  gauge(
    'tickwarden_config_last_reload_success_timestamp_seconds',
    'Unix time of the last successful read of the configuration file, in seconds; it is read when it changes.',
    (observed, add) => add(secondsOf(configOf(observed)?.readAt)),
  ),
]
