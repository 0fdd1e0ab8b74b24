import { createHash } from 'node:crypto'
import type { Random } from './random.ts'

export interface DemoPlayer {
  readonly name: string
  /** Dashed lower-case UUID. */
  readonly id: string
}

const first =
  'Amber Birch Cedar Clay Coral Dusty Ember Fern Flint Frost Hazel Iron Ivy Jade Lava Maple Misty Moss Oak Opal Pixel Quartz River Sandy Stone Sunny Willow'.split(
    ' ',
  )
const second =
  'Axolotl Badger Bee Builder Cat Crafter Digger Dolphin Farmer Fox Frog Goat Heron Lynx Miner Otter Owl Panda Parrot Rabbit Raven Sniffer Turtle Wolf'.split(
    ' ',
  )

/** Returns the UUID of a player in offline mode: version 3 of `OfflinePlayer:` followed by the name. */
export function offlineId(name: string): string {
  const hash = createHash('md5').update(`OfflinePlayer:${name}`).digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x30
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Yields distinct players endlessly, in an order determined by the seed. Names have at most 16 characters. */
export function* roster(random: Random): Generator<DemoPlayer, never> {
  const pairs = first.flatMap((start) => second.map((end) => start + end))
  for (let index = pairs.length - 1; index > 0; index--) {
    const other = random.between(0, index)
    const [a, b] = [pairs[index], pairs[other]]
    if (a !== undefined && b !== undefined) [pairs[index], pairs[other]] = [b, a]
  }
  for (let round = 1; ; round++) {
    for (const pair of pairs) {
      const name = round === 1 ? pair : `${pair}${round}`
      yield { name, id: offlineId(name) }
    }
  }
}
