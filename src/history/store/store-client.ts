import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { DatabaseOptions } from './database.ts'
import type { HistoryStore } from './store.ts'

/** The methods of an object and of its parts, which resolve in the order of their calls. */
type Client<T> = {
  readonly [M in keyof T]: T[M] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : Client<T[M]>
}
export type StoreClient = Client<HistoryStore>

/** A call that is sent to the thread. */
export interface StoreCall {
  /** The method, or a part of the store and its method. */
  readonly path: readonly string[]
  readonly args: readonly unknown[]
}

/** Its result. Results come in the order of the calls; the first one says whether the database could be opened. */
export interface StoreResult {
  readonly value?: unknown
  readonly error?: { readonly message: string; readonly code?: string }
}

type Target = { readonly [name: string]: Target } & ((...args: readonly unknown[]) => unknown)

/** Calls a method of the store. */
export function callStore(store: HistoryStore, { path, args }: StoreCall): unknown {
  const names = path.slice(0, -1)
  const part = names.reduce<Target>((target, name) => target[name] as Target, store as unknown as Target)
  return part[path.at(-1) ?? '']?.(...args)
}

/** @returns the store, each method of which calls `send` */
const clientOf = (send: (call: StoreCall) => Promise<unknown>, path: readonly string[] = []): StoreClient =>
  new Proxy((() => {}) as unknown as StoreClient, {
    // Without `then`: the client is no promise.
    get: (_, name: string) => (name === 'then' ? undefined : clientOf(send, [...path, name])),
    apply: (_, __, args) => send({ path, args }),
  })

/** Nothing else happens on this thread while a call waits. */
const localBusyMs = 20

/**
 * Opens the database on this thread: for a few servers each call takes less than a millisecond, and a thread takes 10 MB.
 * @throws Error if the file cannot be used, for `reasonOf`
 */
export async function openLocalStore(options: DatabaseOptions): Promise<StoreClient> {
  const { HistoryStore } = await import('./store.ts')
  const store = new HistoryStore({ ...options, busyMs: localBusyMs })
  return clientOf(async (call) => callStore(store, call))
}

/**
 * Opens the database in a thread of its own.
 * @throws Error if the file cannot be used, for `reasonOf`
 */
export async function openStoreThread(options: DatabaseOptions): Promise<StoreClient> {
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
    else call?.reject(Object.assign(new Error(error.message), error))
  })
  let failure: Error | undefined
  const fail = (error: Error) => {
    failure ??= error
    for (const { reject } of waiting.splice(0)) reject(failure)
  }
  worker.on('error', fail)
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      fail(new Error('the thread of the history has ended'))
      resolve()
    })
  })
  await nextResult()
  return clientOf(async (call) => {
    if (failure !== undefined) throw failure
    worker.postMessage(call)
    const result = nextResult()
    return call.path[0] === 'close' ? result.finally(() => ended) : result
  })
}
