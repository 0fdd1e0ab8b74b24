import { directory } from './directory/index.ts'
import { jmx } from './jmx/index.ts'
import { management } from './management/index.ts'
import { query } from './query/index.ts'
import { rcon } from './rcon/index.ts'
import type { SourceDescriptor, SourceName } from './source.ts'
import { status } from './status/index.ts'

/** Every source, in the order in which replies name them and in which their settings are completed. */
export const sources = [status, rcon, management, query, jmx, directory] as const

const byName: ReadonlyMap<string, SourceDescriptor> = new Map(sources.map((source) => [source.name, source]))

/** @throws RangeError where the list has no such source */
export function descriptorOf(name: SourceName): SourceDescriptor {
  const descriptor = byName.get(name)
  if (descriptor === undefined) throw new RangeError(`there is no source ${name}`)
  return descriptor
}
