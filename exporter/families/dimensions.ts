import type { Dimension } from '../../src/game/fields.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { live, type Sample, type ServerFamily } from './family.ts'

/** A modded server has a few dozen. The limit protects the scraper's database from a server that sends thousands. */
const maxDimensions = 100

const perDimension = (snapshot: ServerSnapshot, value: (dimension: Dimension) => number): readonly Sample[] =>
  (live(snapshot).dimensions?.value ?? [])
    .slice(0, maxDimensions)
    .map((dimension) => ({ labels: [dimension.name], value: value(dimension) }))

export const dimensions: readonly ServerFamily[] = [
  {
    name: 'minecraft_dimension_tick_duration_mean_seconds',
    type: 'gauge',
    help: 'Mean tick duration of the dimension, over the window that Forge or NeoForge uses, in seconds.',
    labels: ['dimension'],
    perPoll: true,
    read: (snapshot) => perDimension(snapshot, ({ tickDurationMean }) => tickDurationMean),
  },
  {
    name: 'minecraft_dimension_tick_rate',
    type: 'gauge',
    help: 'Ticks per second of the dimension, over the window that Forge or NeoForge uses.',
    labels: ['dimension'],
    perPoll: true,
    read: (snapshot) => perDimension(snapshot, ({ tickRate }) => tickRate),
  },
]
