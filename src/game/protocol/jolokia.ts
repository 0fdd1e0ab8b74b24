import { ProtocolError } from './error.ts'
import { isRecord } from './is-record.ts'

/** Used and largest size of a part of the JVM's memory, in bytes. */
export interface MemoryPool {
  readonly name: string
  readonly usedBytes: number
  /** Absent where the JVM sets no limit. */
  readonly maxBytes?: number
}

export interface GarbageCollector {
  readonly name: string
  /** Since the JVM started. */
  readonly collections: number
  readonly seconds: number
}

/** Durations of the server's last ticks (at most 100), seconds. */
export interface TickTimes {
  readonly mean: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export interface JmxReading {
  /** Absent where the server does not publish its ticks (`enable-jmx-monitoring=true`), or has not ticked yet. */
  readonly ticks?: TickTimes
  /** Whether the server publishes its ticks at all. */
  readonly hasTickBean: boolean
  readonly memoryPools: readonly MemoryPool[]
  readonly garbageCollectors: readonly GarbageCollector[]
  readonly threads?: number
}

const maxNames = 50
const maxNameLength = 100

/**
 * The bulk request that reads everything at once, a JSON array in one POST
 * (https://jolokia.org/reference/html/manual/jolokia_protocol.html#bulk-requests).
 */
export const bulkRequest = JSON.stringify([
  { type: 'read', mbean: 'net.minecraft.server:type=Server', attribute: ['averageTickTime', 'tickTimes'] },
  { type: 'read', mbean: 'java.lang:type=MemoryPool,name=*', attribute: ['Usage'] },
  { type: 'read', mbean: 'java.lang:type=GarbageCollector,name=*', attribute: ['CollectionCount', 'CollectionTime'] },
  { type: 'read', mbean: 'java.lang:type=Threading', attribute: ['ThreadCount'] },
])

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** The value of one reply, undefined where that request failed, as for a bean that is not there. */
function beansOf(reply: unknown): Record<string, unknown> | undefined {
  if (!isRecord(reply) || typeof reply.status !== 'number') throw new ProtocolError('malformed', 'a reply without a status')
  return reply.status === 200 && isRecord(reply.value) ? reply.value : undefined
}

/** Of `java.lang:name=G1 Old Gen,type=MemoryPool` the name. */
const nameOf = (bean: string): string => /[:,]name=("?)(.*?)\1(?:,type=|$)/.exec(bean)?.[2]?.slice(0, maxNameLength) ?? ''

function each<T>(
  beans: Record<string, unknown> | undefined,
  read: (name: string, attributes: Record<string, unknown>) => T | undefined,
): T[] {
  return Object.entries(beans ?? {})
    .slice(0, maxNames)
    .flatMap(([bean, attributes]) => (isRecord(attributes) ? (read(nameOf(bean), attributes) ?? []) : []))
    .filter((value) => value !== undefined)
}

function memoryPool(name: string, { Usage }: Record<string, unknown>): MemoryPool | undefined {
  if (!isRecord(Usage)) return undefined
  const usedBytes = countOf(Usage.used)
  // Without a limit the JVM writes -1.
  const maxBytes = countOf(Usage.max)
  return usedBytes === undefined ? undefined : { name, usedBytes, ...(maxBytes !== undefined && { maxBytes }) }
}

function garbageCollector(name: string, attributes: Record<string, unknown>): GarbageCollector | undefined {
  const collections = countOf(attributes.CollectionCount)
  const milliseconds = countOf(attributes.CollectionTime)
  return collections === undefined || milliseconds === undefined ? undefined : { name, collections, seconds: milliseconds / 1e3 }
}

/**
 * Mean, percentiles (nearest rank) and maximum of `tickTimes`: a ring of 100 durations in nanoseconds, of which those that no tick has
 * filled yet are 0. `averageTickTime` is in milliseconds and, until the ring is full, counts the empty places too: it is not used.
 */
export function tickTimes(bean: Record<string, unknown>): TickTimes | undefined {
  if (!Array.isArray(bean.tickTimes)) throw new ProtocolError('malformed', 'tickTimes is not a list')
  const samples: unknown[] = bean.tickTimes.slice(0, 100)
  if (!samples.every((sample) => countOf(sample) !== undefined))
    throw new ProtocolError('malformed', 'tickTimes holds no durations')
  const seconds = (samples as number[])
    .filter((sample) => sample > 0)
    .map((sample) => sample / 1e9)
    .sort((a, b) => a - b)
  if (seconds.length === 0) return undefined
  const rank = (part: number) => seconds[Math.max(0, Math.ceil(part * seconds.length) - 1)] ?? Number.NaN
  return {
    mean: seconds.reduce((sum, value) => sum + value, 0) / seconds.length,
    p50: rank(0.5),
    p95: rank(0.95),
    p99: rank(0.99),
    max: rank(1),
  }
}

/**
 * The reply to `bulkRequest`.
 * @throws ProtocolError `malformed`, also where it is no reply of Jolokia
 */
export function decodeBulkReply(text: string): JmxReading {
  let replies: unknown
  try {
    replies = JSON.parse(text)
  } catch (error) {
    throw new ProtocolError('malformed', 'the reply is not valid JSON', { cause: error })
  }
  if (!Array.isArray(replies) || replies.length !== 4)
    throw new ProtocolError('malformed', 'not the reply of Jolokia to four requests')
  const [server, pools, collectors, threading] = replies.map(beansOf)
  const ticks = server && tickTimes(server)
  const threads = countOf(threading?.ThreadCount)
  return {
    hasTickBean: server !== undefined,
    ...(ticks && { ticks }),
    memoryPools: each(pools, memoryPool),
    garbageCollectors: each(collectors, garbageCollector),
    ...(threads !== undefined && { threads }),
  }
}
