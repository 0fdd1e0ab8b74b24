import type { IncomingMessage, ServerResponse } from 'node:http'
// The global of the same name is a getter, which measurably slows a request.
import { performance } from 'node:perf_hooks'
import type { FastifyBaseLogger } from 'fastify'
import { formFor, type PreparedReply, writePrepared } from './replies/reply.ts'

/** A reply that depends only on the path of the request and on what the client has cached. */
export interface DirectReply {
  readonly prepared: PreparedReply
  /** Headers that differ per request. */
  readonly volatile: Readonly<Record<string, string>>
}

export interface DirectRoute {
  /** The pattern of the same route in the app, for the metrics. */
  readonly pattern: string
  /**
   * @param text the URL as in the request line; for a path with a name, the decoded name
   * @param basePath path under which a reverse proxy serves the app
   * @returns undefined if the app's route is to answer
   * @throws anything; the app's route answers then, with its error handling
   */
  reply(text: string, basePath: string): DirectReply | undefined
}

/** @param seconds since the request arrived */
type ReplyObserver = (status: number, seconds: number) => void

declare module 'fastify' {
  interface FastifyInstance {
    readonly direct: DirectReplies
  }
}

type ObservedRoute = DirectRoute & { observer?: ReplyObserver }

/**
 * Answers GET of a known path with a prepared reply before the app, whose routing and hooks cost more than writing the reply
 * (`npm run bench -- http`). Every other request, including one that fails, goes through the app, so each path also has a route
 * there. Pages of other origins may read the replies.
 */
export class DirectReplies {
  readonly #log: FastifyBaseLogger
  readonly #crossOrigin: Readonly<Record<string, string>>
  readonly #routes = new Map<string, ObservedRoute>()
  readonly #named = new Map<string, Map<string, ObservedRoute>>()
  #observerOf: ((pattern: string) => ReplyObserver) | undefined

  constructor(log: FastifyBaseLogger, crossOrigin: Readonly<Record<string, string>>) {
    this.#log = log
    this.#crossOrigin = crossOrigin
  }

  /** @param path exact, as in the request line before any `?` */
  add(path: string, route: DirectRoute): void {
    this.#routes.set(path, { ...route })
  }

  /**
   * Adds a path with a name in it, such as `/api/v1/servers/{name}/getall`. Requests with a query go to the app.
   * @param prefix the part of the path before the name, with a trailing slash
   * @param path the part after the name, with a leading slash
   */
  addNamed(prefix: string, path: string, { pattern, reply }: DirectRoute): void {
    const paths = this.#named.get(prefix) ?? new Map<string, ObservedRoute>()
    this.#named.set(prefix, paths)
    const replyTo = (url: string, basePath: string): DirectReply | undefined => {
      const name = url.slice(prefix.length, url.indexOf('/', prefix.length))
      return reply(name.includes('%') ? decodeURIComponent(name) : name, basePath)
    }
    paths.set(path, { pattern, reply: replyTo })
  }

  /** @param observerOf creates the function that is called after each reply of a route has been written to the socket */
  observe(observerOf: (pattern: string) => ReplyObserver): void {
    this.#observerOf = observerOf
  }

  #routeOf(url: string): ObservedRoute | undefined {
    const query = url.indexOf('?')
    const route = this.#routes.get(query === -1 ? url : url.slice(0, query))
    if (route !== undefined || query !== -1) return route
    for (const [prefix, paths] of this.#named) {
      if (url.startsWith(prefix)) return paths.get(url.slice(url.indexOf('/', prefix.length)))
    }
    return undefined
  }

  /** @returns false if the app is to answer */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = '' } = request
    const route = request.method === 'GET' ? this.#routeOf(url) : undefined
    if (route === undefined) return false
    const started = performance.now()
    try {
      const reply = route.reply(url, request.basePath ?? '')
      const form = reply && formFor(request, reply.prepared)
      // The app's route waits for the compressed form.
      if (reply === undefined || form === undefined || form instanceof Promise) return false
      const status = writePrepared(request, response, form, reply.volatile, this.#crossOrigin)
      route.observer ??= this.#observerOf?.(route.pattern) ?? (() => {})
      route.observer(status, (performance.now() - started) / 1000)
    } catch (error) {
      // The app's route runs into the same error, logs it and answers.
      if (!response.headersSent) return false
      // An uncaught error would end the process.
      this.#log.error({ err: error }, 'request failed')
      // A truncated reply must not seem complete; a complete one may be sent.
      if (!response.writableEnded) response.destroy()
    }
    return true
  }
}
