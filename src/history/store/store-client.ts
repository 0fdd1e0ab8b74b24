import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { HistoryFileError } from './file-error.ts'
import type { HistoryStore, StoreOptions } from './store.ts'

/** The methods of the store, which resolve in the order of their calls. */
export type StoreClient = {
  readonly [M in keyof HistoryStore]: (...args: Parameters<HistoryStore[M]>) => Promise<ReturnType<HistoryStore[M]>>
}

/** A call that is sent to the thread. */
export interface StoreCall {
  readonly method: keyof HistoryStore
  readonly args: readonly unknown[]
}

/** Its result. Results come in the order of the calls; the first one says whether the database could be opened. */
export interface StoreResult {
  readonly value?: unknown
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string }
}

/** @returns the methods, each of which calls `send` */
const clientOf = (send: (method: keyof HistoryStore, args: readonly unknown[]) => Promise<unknown>) =>
  new Proxy({} as StoreClient, {
    // Without `then`: the client is no promise.
    get: (_, method: string) =>
      method === 'then' ? undefined : (...args: unknown[]) => send(method as keyof HistoryStore, args),
  })

/** Nothing else happens on this thread while a call waits. */
const localBusyMs = 20

/**
 * Opens the database on this thread: for a few servers each call takes less than a millisecond, and a thread takes 10 MB.
 * @throws HistoryFileError
 */
export async function openLocalStore(options: StoreOptions): Promise<StoreClient> {
  const { HistoryStore } = await import('./store.ts')
  const store = new HistoryStore({ ...options, busyMs: localBusyMs })
  return clientOf(async (method, args) => (store[method] as (...args: readonly unknown[]) => unknown)(...args))
}

/**
 * Opens the database in a thread of its own.
 * @throws HistoryFileError
 */
export async function openStoreThread(options: StoreOptions): Promise<StoreClient> {
  const worker = new Worker(createRequire(import.meta.url).resolve('#history-thread'), {
    workerData: options,
    // Its memory then stays that of the database and of what is being written.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  })
  const waiting: { resolve(value: unknown): void; reject(error: Error): void }[] = []
  const nextResult = () => new Promise<unknown>((resolve, reject) => waiting.push({ resolve, reject }))
  worker.on('message', ({ value, error }: StoreResult) => {
    const call = waiting.shift()
    if (error === undefined) call?.resolve(value)
    else
      call?.reject(
        Object.assign(error.name === 'HistoryFileError' ? new HistoryFileError(error.message) : new Error(error.message), error),
      )
  })
  let failure: Error | undefined
  const fail = (error: Error) => {
    failure ??= error
    for (const { reject } of waiting.splice(0)) reject(failure)
  }
  worker.on('error', fail).on('exit', () => fail(new Error('the thread of the history has ended')))
  await nextResult()
  return clientOf(async (method, args) => {
    if (failure !== undefined) throw failure
    worker.postMessage({ method, args } satisfies StoreCall)
    const result = nextResult()
    return method === 'close' ? result.finally(() => worker.terminate()) : result
  })
}
