import { currentFields, type ServerSnapshot } from '../../src/game/snapshot.ts'
import { gauge, ofEach, type ServerFamily } from './family.ts'

/** A modded server has a few dozen. The limit protects the scraper's database from a server that sends thousands. */
const maxDimensions = 100

const byDimension = ofEach(
  (snapshot: ServerSnapshot) => {
    const all = currentFields(snapshot).dimensions?.value
    return all !== undefined && all.length > maxDimensions ? all.slice(0, maxDimensions) : all
  },
  ({ name }) => name,
)

export const dimensions: readonly ServerFamily[] = [
  gauge(
    'minecraft_dimension_tick_duration_mean_seconds',
    'Mean tick duration of the dimension, over the window that Forge or NeoForge uses, in seconds.',
    byDimension(({ tickDurationMean }) => tickDurationMean),
    { labels: ['dimension'] },
  ),
  gauge(
    'minecraft_dimension_tick_rate',
    'Ticks per second of the dimension, over the window that Forge or NeoForge uses.',
    byDimension(({ tickRate }) => tickRate),
    { labels: ['dimension'] },
  ),
]
