// The thread of the history: it calls the methods of the store that it is asked for, one after the other.
import { parentPort, workerData } from 'node:worker_threads'
import { HistoryStore, type StoreOptions } from './store.ts'
import type { StoreCall, StoreResult } from './store-client.ts'

function toError(error: unknown): NonNullable<StoreResult['error']> {
  const { name, message, code } = error as Error & { readonly code?: string }
  return { name, message, ...(code !== undefined && { code }) }
}

const post = (result: StoreResult) => parentPort?.postMessage(result)

try {
  const store = new HistoryStore(workerData as StoreOptions)
  parentPort?.on('message', ({ method, args }: StoreCall) => {
    try {
      post({ value: (store[method] as (...args: readonly unknown[]) => unknown)(...args) })
    } catch (error) {
      post({ error: toError(error) })
    }
  })
  post({})
} catch (error) {
  post({ error: toError(error) })
}
