import { currentFields } from '../../src/game/current-fields.ts'
import type { ServerFamily } from './family.ts'

export const polls: readonly ServerFamily[] = [
  {
    name: 'minecraft_status_latency_seconds',
    type: 'gauge',
    help: 'Round-trip time of the status ping in the last poll, in seconds.',
    labels: [],
    perPoll: true,
    read: (snapshot, add) => add(currentFields(snapshot).latency?.value),
  },
  {
    name: 'minecraft_source_up',
    type: 'gauge',
    help: '1 if the source answered in the last poll, 0 if not.',
    labels: ['source'],
    perPoll: true,
    read({ sources }, add) {
      for (const { source, state } of sources) if (state !== 'pending') add(state !== 'failed', source)
    },
  },
  {
    name: 'minecraft_source_duration_seconds',
    type: 'gauge',
    help: 'Duration of the last poll of the source, in seconds.',
    labels: ['source'],
    perPoll: true,
    read({ sources }, add) {
      for (const { source, duration } of sources) add(duration, source)
    },
  },
  {
    name: 'minecraft_poll_duration_seconds',
    type: 'gauge',
    help: 'Duration of the last poll of all sources, in seconds.',
    labels: [],
    perPoll: true,
    read: ({ pollDuration }, add) => add(pollDuration),
  },
  {
    name: 'minecraft_last_poll_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time at which the last poll ended, successful or not, in seconds.',
    labels: [],
    perPoll: true,
    read: ({ lastPollAt }, add) => add(lastPollAt && lastPollAt / 1000),
  },
  {
    name: 'minecraft_last_successful_poll_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time of the last successful contact with the server, in seconds.',
    labels: [],
    perPoll: true,
    read: ({ lastContact }, add) => add(lastContact && lastContact.wall / 1000),
  },
  {
    name: 'minecraft_polls_total',
    type: 'counter',
    help: 'Polls since the service started, by outcome: ok, or why the server could not be reached.',
    labels: ['outcome'],
    perPoll: false,
    read({ polls: counts }, add) {
      for (const outcome in counts) add(counts[outcome as keyof typeof counts], outcome)
    },
  },
]
