import { live, type ServerFamily, single } from './family.ts'

export const polls: readonly ServerFamily[] = [
  {
    name: 'minecraft_status_latency_seconds',
    type: 'gauge',
    help: 'Round-trip time of the status ping in the last poll, in seconds.',
    labels: [],
    perPoll: true,
    read: (snapshot) => single(live(snapshot).latency?.value),
  },
  {
    name: 'minecraft_source_up',
    type: 'gauge',
    help: '1 if the source answered in the last poll, 0 if not.',
    labels: ['source'],
    perPoll: true,
    read: ({ sources }) =>
      sources
        .filter(({ state }) => state !== 'pending')
        .map(({ source, state }) => ({ labels: [source], value: state === 'failed' ? 0 : 1 })),
  },
  {
    name: 'minecraft_source_duration_seconds',
    type: 'gauge',
    help: 'Duration of the last poll of the source, in seconds.',
    labels: ['source'],
    perPoll: true,
    read: ({ sources }) =>
      sources.flatMap(({ source, duration }) => (duration === undefined ? [] : [{ labels: [source], value: duration }])),
  },
  {
    name: 'minecraft_poll_duration_seconds',
    type: 'gauge',
    help: 'Duration of the last poll of all sources, in seconds.',
    labels: [],
    perPoll: true,
    read: ({ pollDuration }) => single(pollDuration),
  },
  {
    name: 'minecraft_last_poll_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time at which the last poll ended, successful or not, in seconds.',
    labels: [],
    perPoll: true,
    read: ({ lastPollAt }) => single(lastPollAt && lastPollAt / 1000),
  },
  {
    name: 'minecraft_last_successful_poll_timestamp_seconds',
    type: 'gauge',
    help: 'Unix time of the last successful contact with the server, in seconds.',
    labels: [],
    perPoll: true,
    read: ({ lastContact }) => single(lastContact && lastContact.wall / 1000),
  },
  {
    name: 'minecraft_polls_total',
    type: 'counter',
    help: 'Polls since the service started, by outcome: ok, or why the server could not be reached.',
    labels: ['outcome'],
    perPoll: false,
    read: ({ polls: counts }) => Object.entries(counts).map(([outcome, value]) => ({ labels: [outcome], value })),
  },
]
