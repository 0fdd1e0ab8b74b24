import type { ServerFamily } from './family.ts'

export const overload: readonly ServerFamily[] = [
  {
    name: 'minecraft_overload_warnings_total',
    type: 'counter',
    help: 'Warnings in the server log that the server cannot keep up, since the service started reading the log.',
    labels: [],
    perPoll: false,
    read: ({ fields }, add) => add(fields.overloadWarnings?.value),
  },
  {
    name: 'minecraft_overload_skipped_ticks_total',
    type: 'counter',
    help: 'Ticks that the server fell behind, according to these warnings.',
    labels: [],
    perPoll: false,
    read: ({ fields }, add) => add(fields.overloadSkippedTicks?.value),
  },
]
