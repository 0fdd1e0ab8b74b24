import { counter, gauge, ofField, type ServerFamily } from './family.ts'

export const polls: readonly ServerFamily[] = [
  gauge(
    'minecraft_status_latency_seconds',
    'Round-trip time of the status ping in the last poll, in seconds.',
    ofField('latency'),
  ),
  gauge(
    'minecraft_source_up',
    '1 if the source answered in the last poll, 0 if not.',
    ({ sources }, add) => {
      for (const { source, state } of sources) if (state !== 'pending') add(state !== 'failed', source)
    },
    { labels: ['source'] },
  ),
  gauge(
    'minecraft_source_duration_seconds',
    'Duration of the last poll of the source, in seconds.',
    ({ sources }, add) => {
      for (const { source, duration } of sources) add(duration, source)
    },
    { labels: ['source'] },
  ),
  gauge('minecraft_poll_duration_seconds', 'Duration of the last poll of all sources, in seconds.', ({ pollDuration }, add) =>
    add(pollDuration),
  ),
  gauge(
    'minecraft_last_poll_timestamp_seconds',
    'Unix time at which the last poll ended, successful or not, in seconds.',
    ({ lastPollAt }, add) => add(lastPollAt && lastPollAt / 1000),
  ),
  gauge(
    'minecraft_last_successful_poll_timestamp_seconds',
    'Unix time of the last successful contact with the server, in seconds.',
    ({ lastContact }, add) => add(lastContact && lastContact.wall / 1000),
  ),
  counter(
    'minecraft_polls_total',
    'Polls since the service started, by outcome: ok, or why the server could not be reached.',
    ({ polls: counts }, add) => {
      for (const outcome in counts) add(counts[outcome as keyof typeof counts], outcome)
    },
    { labels: ['outcome'], perPoll: false },
  ),
]
