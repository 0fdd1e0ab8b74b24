import { directory } from './directory/index.ts'
import { jmx } from './jmx/index.ts'
import { management } from './management/index.ts'
import type { sourceNames } from './names.ts'
import { query } from './query/index.ts'
import { rcon } from './rcon/index.ts'
import { status } from './status/index.ts'

type Named<Names extends readonly string[]> = { readonly [Index in keyof Names]: { readonly name: Names[Index] } }

/** Every source, in the order of their names. */
export const sources = [status, rcon, management, query, jmx, directory] as const satisfies Named<typeof sourceNames>
