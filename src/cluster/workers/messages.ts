import type { Config } from '../../config.ts'
import type { ListStatus } from '../../discovery/status.ts'
import type { ServerSettings } from '../../game/server.ts'
import type { CountedRequests } from '../../histogram.ts'

/** Messages from the primary process to the workers. */
export type PrimaryMessage =
  | {
      readonly type: 'start'
      readonly config: Config
      readonly servers: readonly ServerSettings[]
      /** Absent if the demo server is watched, which belongs to no list. */
      readonly lists: readonly ListStatus[] | undefined
      /** Path of the socket for requests that only the primary process can answer. */
      readonly socketPath: string
    }
  | { readonly type: 'servers'; readonly servers: readonly ServerSettings[] }
  /** The status of the lists of servers, after a change. */
  | { readonly type: 'lists'; readonly lists: readonly ListStatus[] }
  | {
      readonly type: 'snapshots'
      readonly texts: readonly string[]
      /** Icons that the worker does not have yet, by hash. */
      readonly icons: readonly (readonly [hash: string, icon: Buffer])[]
    }
  | { readonly type: 'history'; readonly server: string; readonly image: Buffer | undefined }
  /** Sent every `pulseMs`, so that a worker notices if the primary process hangs or is suspended. */
  | { readonly type: 'pulse' }

/** Milliseconds between two pulses. */
export const pulseMs = 1_000

/** Messages from a worker to the primary process. */
export type WorkerMessage =
  /** The worker waits for `start`. */
  | { readonly type: 'ready' }
  | { readonly type: 'listening'; readonly url: string }
  /** @see ListenError */
  | { readonly type: 'failed'; readonly message: string; readonly isListenError: boolean }
  | { readonly type: 'history'; readonly server: string }
  /** The worker does not have the icon of this server. */
  | { readonly type: 'repeat'; readonly server: string }
  | {
      readonly type: 'metrics'
      readonly requests: readonly CountedRequests[]
      readonly clients: number
      readonly dropped: number
    }
