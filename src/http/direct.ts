import type { IncomingMessage, ServerResponse } from 'node:http'
// The global of the same name is a getter, which a request would notice.
import { performance } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { type PreparedReply, writePrepared } from './reply.ts'

/** A reply that needs nothing of its request but the ETag that the client has. */
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
  /** @param path exact, as it stands in the request line before any `?`; pages of any origin may read the reply */
  add(path: string, route: DirectRoute): void
  /** @param observerOf gives what is told of each reply of a route, when it has been handed to the socket */
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
 * Answers GET of a known path with a prepared reply before the app's routing: to find a route, to make its request and
 * reply objects and to run its hooks costs more than to write the reply. Every other request, and one that would be
 * answered with an error, goes the app's way, so there is a route of the same path for each.
 */
export function registerDirect(app: FastifyInstance, crossOrigin: Readonly<Record<string, string>>): void {
  const routes = new Map<string, DirectRoute & { observer?: ReplyObserver }>()
  let observerOf: ((pattern: string) => ReplyObserver) | undefined
  app.decorate('direct', {
    add: (path, route) => void routes.set(path, { ...route }),
    observe(given) {
      observerOf = given
    },
  } satisfies DirectReplies)

  function answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '' } = request
    const query = url.indexOf('?')
    const route = request.method === 'GET' ? routes.get(query === -1 ? url : url.slice(0, query)) : undefined
    if (route === undefined) return false
    const started = performance.now()
    try {
      const reply = route.reply(url)
      if (reply === undefined) return false
      const status = writePrepared(request, response, reply.prepared, reply.volatile, crossOrigin)
      route.observer ??= observerOf?.(route.pattern) ?? (() => {})
      route.observer(status, (performance.now() - started) / 1000)
    } catch (error) {
      // The app's own route meets the same error, logs it and answers.
      if (!response.headersSent) return false
      // Nobody above would catch it: it would end the process.
      app.log.error({ err: error }, 'request failed')
      // A reply that breaks off must not look complete; one that is complete may go.
      if (!response.writableEnded) response.destroy()
    }
    return true
  }

  const [handle] = app.server.listeners('request')
  if (handle === undefined) return
  app.server.removeListener('request', handle as () => void)
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!answer(request, response)) handle.call(app.server, request, response)
  })
}
