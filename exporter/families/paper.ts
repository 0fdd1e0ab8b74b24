import { live, type ServerFamily } from './family.ts'

export const paper: readonly ServerFamily[] = [
  {
    name: 'minecraft_paper_tick_rate',
    type: 'gauge',
    help: 'Ticks per second averaged over the window by Paper itself.',
    labels: ['window'],
    perPoll: true,
    read: (snapshot) =>
      Object.entries(live(snapshot).paperTickRates?.value ?? {}).map(([window, value]) => ({ labels: [window], value })),
  },
]
