import { data } from './data.ts'
import { dimensions } from './dimensions.ts'
import { discovery } from './discovery.ts'
import type { PartFamily, ServerFamily } from './family.ts'
import { jvm } from './jvm.ts'
import { live } from './live.ts'
import { notify } from './notify.ts'
import { overload } from './overload.ts'
import { paper } from './paper.ts'
import { players } from './players.ts'
import { polls } from './polls.ts'
import { replica } from './replica.ts'
import { service } from './service.ts'
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

/** The families of the service and its parts, in the order in which they are written. */
export const partFamilies: readonly PartFamily[] = [...data, ...live, ...notify, ...discovery, ...replica, ...service]
