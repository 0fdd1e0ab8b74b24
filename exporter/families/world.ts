import { gauge, ofField, type ServerFamily } from './family.ts'

export const world: readonly ServerFamily[] = [
  gauge('minecraft_world_day', 'Day of the world, counted from 0.', ofField('worldDay')),
  gauge('minecraft_world_time_of_day_ticks', 'Time of day of the world, 0 to 23999 ticks.', ofField('worldTimeOfDay')),
]
