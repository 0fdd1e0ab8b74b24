import { live, type ServerFamily } from './family.ts'

export const paper: readonly ServerFamily[] = [
  {
    name: 'minecraft_paper_tick_rate',
    type: 'gauge',
    help: 'Ticks per second as Paper itself averages them over the window.',
    labels: ['window'],
    perPoll: true,
    read: (snapshot) =>
      Object.entries(live(snapshot).paperTickRates?.value ?? {}).map(([window, value]) => ({ labels: [window], value })),
  },
]
