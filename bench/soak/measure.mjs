import { isMainThread } from 'node:worker_threads'

// Loaded before the service: reports the heap after a garbage collection to the parent process.
if (isMainThread) {
  process.on('message', () => {
    globalThis.gc()
    process.send({ heap: process.memoryUsage().heapUsed })
  })
  // The channel must not keep a service running that ends.
  process.channel.unref()
}
