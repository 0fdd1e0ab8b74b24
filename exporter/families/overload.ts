import { type Family, single } from './family.ts'

export const overload: readonly Family[] = [
  {
    name: 'minecraft_overload_warnings_total',
    type: 'counter',
    help: "Warnings of the server that it can't keep up, in its log since the service began to follow it.",
    labels: [],
    read: ({ fields }) => single(fields.overloadWarnings?.value),
  },
  {
    name: 'minecraft_overload_skipped_ticks_total',
    type: 'counter',
    help: 'Ticks that the server says it fell behind, summed over those warnings.',
    labels: [],
    read: ({ fields }) => single(fields.overloadSkippedTicks?.value),
  },
]
