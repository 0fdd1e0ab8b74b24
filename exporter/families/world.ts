import { currentFields } from '../../src/game/current-fields.ts'
import type { ServerFamily } from './family.ts'

export const world: readonly ServerFamily[] = [
  {
    name: 'minecraft_world_day',
    type: 'gauge',
    help: 'Day of the world, counted from 0.',
    labels: [],
    perPoll: true,
    read: (snapshot, add) => add(currentFields(snapshot).worldDay?.value),
  },
  {
    name: 'minecraft_world_time_of_day_ticks',
    type: 'gauge',
    help: 'Time of day of the world, 0 to 23999 ticks.',
    labels: [],
    perPoll: true,
    read: (snapshot, add) => add(currentFields(snapshot).worldTimeOfDay?.value),
  },
]
