import { dimensions } from './dimensions.ts'
import type { Family } from './family.ts'
import { jvm } from './jvm.ts'
import { overload } from './overload.ts'
import { paper } from './paper.ts'
import { players } from './players.ts'
import { polls } from './polls.ts'
import { state } from './state.ts'
import { ticks } from './ticks.ts'
import { world } from './world.ts'

/** What is told of each watched server, in the order in which it is written. */
export const serverFamilies: readonly Family[] = [
  ...state,
  ...players,
  ...ticks,
  ...paper,
  ...dimensions,
  ...world,
  ...jvm,
  ...overload,
  ...polls,
]
