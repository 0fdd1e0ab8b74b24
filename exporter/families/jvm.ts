import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { live, type Sample, type ServerFamily, single } from './family.ts'

const pools = (snapshot: ServerSnapshot) => live(snapshot).jvmMemoryPools?.value ?? []
const collectors = (snapshot: ServerSnapshot) => live(snapshot).jvmGarbageCollectors?.value ?? []
const named = <T extends { readonly name: string }>(
  all: readonly T[],
  value: (one: T) => number | undefined,
): readonly Sample[] => all.flatMap((one) => single(value(one)).map((sample) => ({ ...sample, labels: [one.name] })))

export const jvm: readonly ServerFamily[] = [
  {
    name: 'minecraft_jvm_memory_used_bytes',
    type: 'gauge',
    help: "Memory in use in the memory pool of the server's JVM, in bytes.",
    labels: ['pool'],
    perPoll: true,
    read: (snapshot) => named(pools(snapshot), ({ usedBytes }) => usedBytes),
  },
  {
    name: 'minecraft_jvm_memory_max_bytes',
    type: 'gauge',
    help: "Maximum size of the memory pool of the server's JVM, in bytes; absent if it has no limit.",
    labels: ['pool'],
    perPoll: true,
    read: (snapshot) => named(pools(snapshot), ({ maxBytes }) => maxBytes),
  },
  {
    name: 'minecraft_jvm_gc_collections_total',
    type: 'counter',
    help: "Garbage collections since the server's JVM started.",
    labels: ['gc'],
    perPoll: true,
    read: (snapshot) => named(collectors(snapshot), ({ collections }) => collections),
  },
  {
    name: 'minecraft_jvm_gc_seconds_total',
    type: 'counter',
    help: "Time spent in garbage collections since the server's JVM started, in seconds.",
    labels: ['gc'],
    perPoll: true,
    read: (snapshot) => named(collectors(snapshot), ({ seconds }) => seconds),
  },
  {
    name: 'minecraft_jvm_threads',
    type: 'gauge',
    help: "Live threads of the server's JVM.",
    labels: [],
    perPoll: true,
    read: (snapshot) => single(live(snapshot).jvmThreads?.value),
  },
]
