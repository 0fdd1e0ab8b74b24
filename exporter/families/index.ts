import { dimensions } from './dimensions.ts'
import type { ServerFamily } from './family.ts'
import { jvm } from './jvm.ts'
import { overload } from './overload.ts'
import { paper } from './paper.ts'
import { players } from './players.ts'
import { polls } from './polls.ts'
import { state } from './state.ts'
import { ticks } from './ticks.ts'
import { world } from './world.ts'

/** The families of each watched server, in the order in which they are written. */
export const serverFamilies: readonly ServerFamily[] = [
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
