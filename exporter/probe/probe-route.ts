import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../../src/clock.ts'
import { invalidParameter, RequestError, unavailable } from '../../src/errors.ts'
import type { Fleet } from '../../src/game/fleet.ts'
import type { Network } from '../../src/game/network.ts'
import { createPhaseRecorder, type PhaseRecorder } from '../../src/game/phases.ts'
import { addressOf } from '../../src/game/server.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { problems } from '../../src/http/problem.ts'
import { optional, type Parameter, required, shown } from '../../src/http/query.ts'
import { textType } from '../../src/http/reply.ts'
import { serverFamilies } from '../families/index.ts'
import { type Probed, probed } from '../families/probed.ts'
import { metricsSchema, sendMetrics } from '../metrics-route.ts'
import { chooseFormat } from '../negotiate.ts'
import { createExposition, endings, type Format } from '../text.ts'
import { createAllowList } from './allow-list.ts'
import { createDebugLog, type DebugLog } from './debug.ts'
import { guardNetwork, traceNetwork } from './network.ts'
import { findTarget, type Target } from './target.ts'
import { probeTimeout } from './timeout.ts'

export interface ProbeRouteOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  /** Host patterns and CIDR ranges that may be reached besides the watched servers. */
  readonly allow: readonly string[]
  /** Probes at once. */
  readonly concurrency: number
  /** Milliseconds a probe may take if the scraper does not say. */
  readonly timeout: number
  readonly network: Network
}

/** Milliseconds before the deadline at which the sources give up, so that what they read until then is in the reply. */
const maxSourceMargin = 100

const writeServer = createExposition(serverFamilies.filter(({ perPoll }) => perPoll))
const writeProbed = createExposition(probed)

const targetText: Parameter<string> = {
  expected: 'the name of a watched server, host, host:port or bedrock://host:port',
  parse: (text) => (text === '' || text.length > 300 ? undefined : text),
}
const boolean: Parameter<boolean> = {
  expected: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

/** Does not say what the target resolves to: that may be a name of an internal network. */
const notAllowed = (target: string): RequestError =>
  new RequestError(
    403,
    'TARGET_NOT_ALLOWED',
    `Parameter "target" is ${shown(target)}; expected a watched server (/sd lists them) or an address that PROBE_ALLOW covers.`,
  )

const schema = {
  tags: ['metrics'],
  summary: 'Metrics of one server, polled for this request',
  querystring: Type.Object({
    target: Type.String({ description: 'Name or address of a watched server, or an address that PROBE_ALLOW covers' }),
    debug: Type.Optional(Type.Boolean({ description: 'The poll step by step, as text' })),
  }),
  response: { ...metricsSchema, ...problems(400, 403, 503) },
}

interface Poll {
  /** Milliseconds for everything. */
  readonly timeout: number
  readonly phases: PhaseRecorder
  readonly debug: DebugLog | undefined
}

/** `/probe?target=`: polls one server now. A dead server is a reply like any other, with `minecraft_up 0`. */
export function registerProbeRoute(app: FastifyInstance, options: ProbeRouteOptions): void {
  const { fleet, clock, concurrency } = options
  const allowList = createAllowList(options.allow)
  let underWay = 0

  /** One poll by a watcher of its own, which is closed whatever happens. At the deadline it gives what is known by then. */
  async function poll({ settings, configured }: Target, request: FastifyRequest, { timeout, phases, debug }: Poll) {
    const host = addressOf(settings)?.host ?? ''
    const mayBe = isIP(host) > 0 ? allowList.allows(host, host) : allowList.mayAllow(host)
    if (!configured && !mayBe) throw notAllowed(settings.name)
    const guard = configured ? undefined : guardNetwork(options.network, (address) => allowList.allows(host, address))
    // Traced from outside the guard: no address is shown that it refuses.
    const network = guard ?? options.network
    const sourceTimeout = timeout - Math.min(maxSourceMargin, timeout / 2)
    const watcher = fleet.probe(settings, sourceTimeout, {
      network: debug ? traceNetwork(network, debug.note) : network,
      phases,
    })
    const close = () => watcher.close()
    // Not the socket's event: a scraper may send many requests over one connection.
    request.signal.addEventListener('abort', close, { once: true })
    let cancel = () => {}
    const deadline = new Promise<void>((resolve) => {
      cancel = clock.after(timeout, resolve)
    })
    try {
      await Promise.race([watcher.poll(), deadline])
      const snapshot = watcher.snapshot()
      if (guard?.hasRefused() && snapshot.up !== true) throw notAllowed(settings.name)
      return snapshot
    } finally {
      cancel()
      request.signal.removeEventListener('abort', close)
      close()
    }
  }

  function write(snapshot: ServerSnapshot, result: Probed, format: Format): string {
    return writeServer(snapshot, format) + writeProbed(result, format) + endings[format]
  }

  app.get('/probe', { config: { crossOrigin: false }, schema }, async (request, reply) => {
    const text = required(request, 'target', targetText)
    const wantsDebug = optional(request, 'debug', boolean) ?? false
    const timeout = probeTimeout(request.headers['x-prometheus-scrape-timeout-seconds'], options.timeout)
    const target = findTarget(fleet, text)
    if (target === undefined) throw invalidParameter(`Parameter "target" is ${shown(text)}; expected ${targetText.expected}.`)
    if (underWay >= concurrency) {
      throw unavailable('TOO_MANY_PROBES', `${concurrency} probes are under way; PROBE_CONCURRENCY allows no more.`, 1)
    }
    const started = clock.now()
    underWay++
    try {
      const debug = wantsDebug ? createDebugLog(() => clock.now(), `Probe of ${text}, at most ${timeout / 1000} s`) : undefined
      const phases = createPhaseRecorder(clock)
      const snapshot = await poll(target, request, { timeout, phases, debug })
      const duration = (clock.now() - started) / 1000
      const result: Probed = { success: snapshot.up === true, duration, phases: phases.durations() }
      if (debug === undefined) {
        const format = chooseFormat(request.headers.accept)
        return sendMetrics(request, reply, write(snapshot, result, format), format)
      }
      reply.headers({ 'content-type': textType, 'cache-control': 'no-store' })
      return reply.send(Buffer.from(debug.text(snapshot, write(snapshot, result, 'prometheus'))))
    } finally {
      underWay--
    }
  })
}
