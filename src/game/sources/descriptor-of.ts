import { sources } from './index.ts'
import type { SourceName } from './names.ts'
import type { SourceDescriptor } from './source.ts'

const byName: ReadonlyMap<string, SourceDescriptor> = new Map(sources.map((source) => [source.name, source]))

/** @throws RangeError if there is no such source */
export function descriptorOf(name: SourceName): SourceDescriptor {
  const descriptor = byName.get(name)
  if (descriptor === undefined) throw new RangeError(`there is no source ${name}`)
  return descriptor
}
