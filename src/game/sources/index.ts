import { directory } from './directory/index.ts'
import { jmx } from './jmx/index.ts'
import { management } from './management/index.ts'
import { query } from './query/index.ts'
import { rcon } from './rcon/index.ts'
import { status } from './status/index.ts'

/** Every source, in the order of API replies and of settings discovery. */
export const sources = [status, rcon, management, query, jmx, directory] as const
