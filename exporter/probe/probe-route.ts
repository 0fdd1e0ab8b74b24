import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../../src/clock.ts'
import { invalidParameter, RequestError, unavailable } from '../../src/errors.ts'
import type { Fleet } from '../../src/game/fleet.ts'
import { type Network, systemNetwork } from '../../src/game/network.ts'
import { addressOf } from '../../src/game/server.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { problems } from '../../src/http/problem.ts'
import { optional, type Parameter, required, shown } from '../../src/http/query.ts'
import { textType } from '../../src/http/reply.ts'
import type { Family } from '../families/family.ts'
import { serverFamilies } from '../families/index.ts'
import { type Probed, probed } from '../families/probed.ts'
import { metricsSchema, sendMetrics } from '../metrics-route.ts'
import { chooseFormat } from '../negotiate.ts'
import { endings, exposition } from '../text.ts'
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
  /** Default: the system's. */
  readonly network?: Network
}

/** These count what is seen between polls, of which a single poll has nothing to tell. */
const ofWatching = new Set([
  'minecraft_player_joins_total',
  'minecraft_player_leaves_total',
  'minecraft_overload_warnings_total',
  'minecraft_overload_skipped_ticks_total',
])
const families: readonly Family[] = serverFamilies.filter(({ name }) => !ofWatching.has(name))

const targetText: Parameter<string> = {
  expected: 'the name of a watched server, host, host:port or bedrock://host:port',
  parse: (text) => (text === '' || text.length > 300 ? undefined : text),
}
const boolean: Parameter<boolean> = {
  expected: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

/** @param address what the host of the target turned out to be, if it was that */
const notAllowed = (target: string, address?: string): RequestError =>
  new RequestError(
    403,
    'TARGET_NOT_ALLOWED',
    `Parameter "target" is ${shown(target)}${address === undefined ? '' : `, at ${address}`}; expected a watched server (/sd lists them) or an address that PROBE_ALLOW covers.`,
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

/** `/probe?target=`: polls one server now. A dead server is a reply like any other, with `minecraft_up 0`. */
export function registerProbeRoute(app: FastifyInstance, options: ProbeRouteOptions): void {
  const { fleet, clock, concurrency, network: system = systemNetwork } = options
  const allowList = createAllowList(options.allow)
  let underWay = 0

  /** One poll by a watcher of its own, which is closed whatever happens. */
  async function poll({ settings, configured }: Target, request: FastifyRequest, timeout: number, debug: DebugLog | undefined) {
    const host = addressOf(settings)?.host ?? ''
    const mayBe = isIP(host) > 0 ? allowList.allows(host, host) : allowList.mayAllow(host)
    if (!configured && !mayBe) throw notAllowed(settings.name)
    const traced = debug ? traceNetwork(system, debug.note) : system
    const guard = configured ? undefined : guardNetwork(traced, (address) => allowList.allows(host, address))
    const watcher = fleet.probe(settings, timeout, { network: guard ?? traced })
    const close = () => watcher.close()
    // Not the socket's event: a scraper may send many requests over one connection.
    request.signal.addEventListener('abort', close, { once: true })
    try {
      const snapshot = await watcher.poll()
      const refused = guard?.refused()
      if (refused !== undefined && snapshot.up !== true) throw notAllowed(settings.name, host === refused ? undefined : refused)
      return snapshot
    } finally {
      request.signal.removeEventListener('abort', close)
      close()
    }
  }

  function write(snapshot: ServerSnapshot, started: number, format: 'prometheus' | 'openmetrics'): string {
    const result: Probed = { success: snapshot.up === true, duration: (clock.now() - started) / 1000 }
    return exposition(families, snapshot, format) + exposition(probed, result, format) + endings[format]
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
      const snapshot = await poll(target, request, timeout, debug)
      if (debug === undefined)
        return sendMetrics(request, reply, Buffer.from(write(snapshot, started, chooseFormat(request.headers.accept))))
      reply.headers({ 'content-type': textType, 'cache-control': 'no-store' })
      return reply.send(Buffer.from(debug.text(snapshot, write(snapshot, started, 'prometheus'))))
    } finally {
      underWay--
    }
  })
}
