// The thread of the history: it calls the methods of the store that it is asked for, one after the other.
import { parentPort, workerData } from 'node:worker_threads'
import type { DatabaseOptions } from './database.ts'
import { HistoryStore } from './store.ts'
import { callStore, type StoreCall, type StoreResult } from './store-client.ts'

function post(action: () => unknown): void {
  let result: StoreResult
  try {
    result = { value: action() }
  } catch (error) {
    const { message, code } = error as Error & { readonly code?: string }
    result = { error: { message, ...(code !== undefined && { code }) } }
  }
  parentPort?.postMessage(result)
}

post(() => {
  const store = new HistoryStore(workerData as DatabaseOptions)
  parentPort?.on('message', (call: StoreCall) => {
    post(() => callStore(store, call))
    // The thread ends by itself: libsql aborts the process if a call fails while its thread is being terminated.
    if (call.path[0] === 'close') parentPort?.close()
  })
})
