import { isRecord } from '../../util/is-record.ts'
import { parseJson } from '../../util/json.ts'
import { ProtocolError } from './error.ts'

/** A memory pool of the JVM. */
export interface MemoryPool {
  readonly name: string
  readonly usedBytes: number
  /** Absent if the JVM sets no limit. */
  readonly maxBytes?: number
}

export interface GarbageCollector {
  readonly name: string
  /** Since the JVM started. */
  readonly collections: number
  readonly seconds: number
}

/** Durations of the server's last 100 ticks in seconds. */
export interface TickTimes {
  readonly mean: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
  /** Changes with every tick. */
  readonly ring: string
}

export interface JmxReading {
  /** Absent if the server does not publish its ticks (`enable-jmx-monitoring=true`), or has not run a tick yet. */
  readonly ticks?: TickTimes
  /** Whether the server publishes its ticks. */
  readonly hasTickBean: boolean
  readonly memoryPools: readonly MemoryPool[]
  readonly garbageCollectors: readonly GarbageCollector[]
  readonly threads?: number
}

const maxNames = 50
const maxNameLength = 100

/**
 * The bulk request that reads all beans with one POST of a JSON array
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

/** Returns the value of one reply; undefined if the request failed, for example because the bean does not exist. */
function beansOf(reply: unknown): Record<string, unknown> | undefined {
  if (!isRecord(reply) || typeof reply.status !== 'number') throw new ProtocolError('malformed', 'the reply has no status')
  return reply.status === 200 && isRecord(reply.value) ? reply.value : undefined
}

/** Returns the name in `java.lang:name=G1 Old Gen,type=MemoryPool`. */
function nameOf(bean: string): string {
  const [, quoted, bare = ''] = /[:,]name=(?:"((?:\\.|[^"\\])*)"|([^,]*))/s.exec(bean) ?? []
  return (quoted ?? bare).slice(0, maxNameLength)
}

function each<T>(
  beans: Record<string, unknown> | undefined,
  read: (name: string, attributes: Record<string, unknown>) => T | undefined,
): T[] {
  return Object.entries(beans ?? {})
    .slice(0, maxNames)
    .flatMap(([bean, attributes]) => (isRecord(attributes) ? (read(nameOf(bean), attributes) ?? []) : []))
}

function memoryPool(name: string, { Usage }: Record<string, unknown>): MemoryPool | undefined {
  if (!isRecord(Usage)) return undefined
  const usedBytes = countOf(Usage.used)
  // The JVM reports -1 if there is no limit.
  const maxBytes = countOf(Usage.max)
  return usedBytes === undefined ? undefined : { name, usedBytes, ...(maxBytes !== undefined && { maxBytes }) }
}

function garbageCollector(name: string, attributes: Record<string, unknown>): GarbageCollector | undefined {
  const collections = countOf(attributes.CollectionCount)
  const milliseconds = countOf(attributes.CollectionTime)
  return collections === undefined || milliseconds === undefined ? undefined : { name, collections, seconds: milliseconds / 1e3 }
}

/**
 * Computes mean, percentiles (nearest rank) and maximum of `tickTimes`, a ring buffer of 100 durations in nanoseconds in which unused
 * entries are 0. `averageTickTime` is not used, since it includes the unused entries.
 */
export function tickTimes(bean: Record<string, unknown>): TickTimes | undefined {
  if (!Array.isArray(bean.tickTimes)) throw new ProtocolError('malformed', 'tickTimes is not an array')
  const samples: unknown[] = bean.tickTimes.slice(0, 100)
  if (!samples.every((sample) => countOf(sample) !== undefined))
    throw new ProtocolError('malformed', 'tickTimes contains invalid durations')
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
    ring: samples.join(),
  }
}

/**
 * Decodes the reply to `bulkRequest`.
 * @throws ProtocolError `malformed`
 */
export function decodeBulkReply(text: string): JmxReading {
  let replies: unknown
  try {
    replies = parseJson(text)
  } catch (error) {
    throw new ProtocolError('malformed', `the reply is ${(error as SyntaxError).message}`, { cause: error })
  }
  if (!Array.isArray(replies) || replies.length !== 4)
    throw new ProtocolError('malformed', 'the reply is not a Jolokia reply to four requests')
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
