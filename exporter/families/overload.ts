import { type ServerFamily, single } from './family.ts'

export const overload: readonly ServerFamily[] = [
  {
    name: 'minecraft_overload_warnings_total',
    type: 'counter',
    help: "Warnings of the server that it can't keep up, in its log since the service began to follow it.",
    labels: [],
    perPoll: false,
    read: ({ fields }) => single(fields.overloadWarnings?.value),
  },
  {
    name: 'minecraft_overload_skipped_ticks_total',
    type: 'counter',
    help: 'Ticks that the server says it fell behind, summed over those warnings.',
    labels: [],
    perPoll: false,
    read: ({ fields }) => single(fields.overloadSkippedTicks?.value),
  },
]
