import { currentFields } from '../../src/game/current-fields.ts'
import type { GarbageCollector, MemoryPool } from '../../src/game/protocol/jolokia.ts'
import type { ServerFamily } from './family.ts'

const byPool =
  (value: (pool: MemoryPool) => number | undefined): ServerFamily['read'] =>
  (snapshot, add) => {
    for (const pool of currentFields(snapshot).jvmMemoryPools?.value ?? []) add(value(pool), pool.name)
  }

const byCollector =
  (value: (collector: GarbageCollector) => number | undefined): ServerFamily['read'] =>
  (snapshot, add) => {
    for (const collector of currentFields(snapshot).jvmGarbageCollectors?.value ?? []) add(value(collector), collector.name)
  }

export const jvm: readonly ServerFamily[] = [
  {
    name: 'minecraft_jvm_memory_used_bytes',
    type: 'gauge',
    help: "Memory in use in the memory pool of the server's JVM, in bytes.",
    labels: ['pool'],
    perPoll: true,
    read: byPool(({ usedBytes }) => usedBytes),
  },
  {
    name: 'minecraft_jvm_memory_max_bytes',
    type: 'gauge',
    help: "Maximum size of the memory pool of the server's JVM, in bytes; absent if it has no limit.",
    labels: ['pool'],
    perPoll: true,
    read: byPool(({ maxBytes }) => maxBytes),
  },
  {
    name: 'minecraft_jvm_gc_collections_total',
    type: 'counter',
    help: "Garbage collections since the server's JVM started.",
    labels: ['gc'],
    perPoll: true,
    read: byCollector(({ collections }) => collections),
  },
  {
    name: 'minecraft_jvm_gc_seconds_total',
    type: 'counter',
    help: "Time spent in garbage collections since the server's JVM started, in seconds.",
    labels: ['gc'],
    perPoll: true,
    read: byCollector(({ seconds }) => seconds),
  },
  {
    name: 'minecraft_jvm_threads',
    type: 'gauge',
    help: "Live threads of the server's JVM.",
    labels: [],
    perPoll: true,
    read: (snapshot, add) => add(currentFields(snapshot).jvmThreads?.value),
  },
]
