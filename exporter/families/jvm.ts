import { currentFields, type ServerSnapshot } from '../../src/game/snapshot.ts'
import { counter, gauge, ofEach, ofField, type ServerFamily } from './family.ts'

const byPool = ofEach(
  (snapshot: ServerSnapshot) => currentFields(snapshot).jvmMemoryPools?.value,
  ({ name }) => name,
)
const byCollector = ofEach(
  (snapshot: ServerSnapshot) => currentFields(snapshot).jvmGarbageCollectors?.value,
  ({ name }) => name,
)

export const jvm: readonly ServerFamily[] = [
  gauge(
    'minecraft_jvm_memory_used_bytes',
    "Memory in use in the memory pool of the server's JVM, in bytes.",
    byPool(({ usedBytes }) => usedBytes),
    { labels: ['pool'] },
  ),
  gauge(
    'minecraft_jvm_memory_max_bytes',
    "Maximum size of the memory pool of the server's JVM, in bytes; absent if it has no limit.",
    byPool(({ maxBytes }) => maxBytes),
    { labels: ['pool'] },
  ),
  counter(
    'minecraft_jvm_gc_collections_total',
    "Garbage collections since the server's JVM started.",
    byCollector(({ collections }) => collections),
    { labels: ['gc'] },
  ),
  counter(
    'minecraft_jvm_gc_seconds_total',
    "Time spent in garbage collections since the server's JVM started, in seconds.",
    byCollector(({ seconds }) => seconds),
    { labels: ['gc'] },
  ),
  gauge('minecraft_jvm_threads', "Live threads of the server's JVM.", ofField('jvmThreads')),
]
