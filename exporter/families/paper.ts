import { type Family, live } from './family.ts'

export const paper: readonly Family[] = [
  {
    name: 'minecraft_paper_tick_rate',
    type: 'gauge',
    help: 'Ticks per second as Paper itself averages them over the window.',
    labels: ['window'],
    read: (snapshot) =>
      Object.entries(live(snapshot).paperTickRates?.value ?? {}).map(([window, value]) => ({ labels: [window], value })),
  },
]
