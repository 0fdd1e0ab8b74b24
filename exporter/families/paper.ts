import { currentFields } from '../../src/game/snapshot.ts'
import { gauge, type ServerFamily } from './family.ts'

export const paper: readonly ServerFamily[] = [
  gauge(
    'minecraft_paper_tick_rate',
    'Ticks per second averaged over the window by the server itself: Spigot or one of its forks, such as Paper.',
    (snapshot, add) => {
      const rates = currentFields(snapshot).paperTickRates?.value
      if (rates !== undefined) for (const [window, rate] of Object.entries(rates)) add(rate, window)
    },
    { labels: ['window'] },
  ),
]
