import type { IncomingMessage, ServerResponse } from 'node:http'
// The global of the same name is a getter, which shows in the time of a request.
import { performance } from 'node:perf_hooks'
import type { FastifyBaseLogger } from 'fastify'
import { formFor, type PreparedReply, writePrepared } from './reply.ts'

/** A reply that depends on nothing of its request but the path and what the client has cached. */
export interface DirectReply {
  readonly prepared: PreparedReply
  /** Headers that differ per request. */
  readonly volatile: Readonly<Record<string, string>>
}

export interface DirectRoute {
  /** The pattern of the same route of the app, for the metrics. */
  readonly pattern: string
  /**
   * @param url as it stands in the request line
   * @returns undefined where the app's own route is to answer
   * @throws anything: then the app's own route answers too, and with it its error handling
   */
  reply(url: string): DirectReply | undefined
}

export interface DirectReplies {
  /** @param path exact, as it stands in the request line before any `?`; pages of other origins may read the reply */
  add(path: string, route: DirectRoute): void
  /** @param observerOf makes what is called with each reply of a route, once that is handed to the socket */
  observe(observerOf: (pattern: string) => ReplyObserver): void
}

/** @param seconds since the request arrived */
export type ReplyObserver = (status: number, seconds: number) => void

declare module 'fastify' {
  interface FastifyInstance {
    readonly direct: DirectReplies
  }
}

/**
 * Answers GET of a known path with a prepared reply before the app's routing, whose route lookup, request and reply objects
 * and hooks cost more than writing the reply (`npm run bench -- http`). Every other request, and one that would be answered
 * with an error, goes through the app, so there is a route of the same path for each.
 */
export function createDirectReplies(log: FastifyBaseLogger, crossOrigin: Readonly<Record<string, string>>) {
  const routes = new Map<string, DirectRoute & { observer?: ReplyObserver }>()
  let observerOf: ((pattern: string) => ReplyObserver) | undefined
  const replies: DirectReplies = {
    add: (path, route) => void routes.set(path, { ...route }),
    observe(given) {
      observerOf = given
    },
  }

  /** @returns false where the app is to answer */
  function answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '' } = request
    const query = url.indexOf('?')
    const route = request.method === 'GET' ? routes.get(query === -1 ? url : url.slice(0, query)) : undefined
    if (route === undefined) return false
    const started = performance.now()
    try {
      const reply = route.reply(url)
      const form = reply && formFor(request, reply.prepared)
      // The app's own route waits for the compressed form.
      if (reply === undefined || form === undefined || form instanceof Promise) return false
      const status = writePrepared(request, response, form, reply.volatile, crossOrigin)
      route.observer ??= observerOf?.(route.pattern) ?? (() => {})
      route.observer(status, (performance.now() - started) / 1000)
    } catch (error) {
      // The app's own route meets the same error, logs it and answers.
      if (!response.headersSent) return false
      // Nothing above would catch it: it would end the process.
      log.error({ err: error }, 'request failed')
      // A reply that breaks off must not look complete; one that is complete may go.
      if (!response.writableEnded) response.destroy()
    }
    return true
  }

  return { ...replies, answer }
}
