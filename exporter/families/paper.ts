import { currentFields } from '../../src/game/current-fields.ts'
import type { ServerFamily } from './family.ts'

export const paper: readonly ServerFamily[] = [
  {
    name: 'minecraft_paper_tick_rate',
    type: 'gauge',
    help: 'Ticks per second averaged over the window by the server itself: Spigot or one of its forks, such as Paper.',
    labels: ['window'],
    perPoll: true,
    read(snapshot, add) {
      const rates = currentFields(snapshot).paperTickRates?.value
      if (rates !== undefined) for (const [window, rate] of Object.entries(rates)) add(rate, window)
    },
  },
]
