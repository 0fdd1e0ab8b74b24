import { isIP } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../src/clock.ts'
import { hostname as hostnameKind } from '../../src/config/kinds.ts'
import { invalidParameter, RequestError, unavailable } from '../../src/errors.ts'
import type { Fleet } from '../../src/game/fleet.ts'
import type { Network } from '../../src/game/network.ts'
import { createPhaseRecorder, type PhaseRecorder } from '../../src/game/phases.ts'
import { addressOf } from '../../src/game/server.ts'
import type { ServerSnapshot } from '../../src/game/snapshot.ts'
import { security } from '../../src/http/docs.ts'
import { booleanParameter, optional, query, shown, textParameter, withDefault } from '../../src/http/parameters.ts'
import { problem } from '../../src/http/problem.ts'
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

const parameters = {
  target: {
    ...textParameter({
      description: 'Name or address of a watched server, or an address that PROBE_ALLOW covers',
      example: 'mc.example.org:25565',
      maxLength: 300,
    }),
    expected: 'the name of a watched server, host, host:port or bedrock://host:port',
  },
  hostname: optional({
    ...textParameter({
      description: 'Name that the handshake carries, where it is not that of the address (MC_HOSTNAME)',
      example: 'lobby.example.org',
      maxLength: 253,
    }),
    ...hostnameKind,
  }),
  debug: withDefault(booleanParameter({ description: 'The poll step by step, as text', example: true }), false),
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
  summary: 'Metrics of one server',
  description: 'Polls the server for this request. Without an answer of the server the reply is 200 too, with `minecraft_up 0`.',
  security: security.metrics,
  querystring: query(parameters),
  response: {
    ...metricsSchema,
    ...problem(400, {
      code: 'INVALID_PARAMETER',
      detail: `Parameter "target" is missing; expected ${parameters.target.expected}.`,
    }),
    ...problem(403, {
      code: 'TARGET_NOT_ALLOWED',
      detail:
        'Parameter "target" is "192.0.2.1"; expected a watched server (/sd lists them) or an address that PROBE_ALLOW covers.',
    }),
    ...problem(503, { code: 'TOO_MANY_PROBES', detail: '64 probes are under way; PROBE_CONCURRENCY allows no more.' }),
  },
}

/**
 * The target with another name in the handshake.
 * @throws RequestError INVALID_PARAMETER for a Bedrock server
 */
function withHostname(target: Target, hostname: string | undefined): Target {
  if (hostname === undefined) return target
  const { settings } = target
  const { sources } = settings
  if (addressOf(settings)?.edition === 'bedrock') {
    throw invalidParameter(
      `Parameter "hostname" is ${shown(hostname)}; expected none for a Bedrock server, only the handshake of Java servers carries a name.`,
    )
  }
  return { ...target, settings: { ...settings, sources: { ...sources, status: { ...sources.status, hostname } } } }
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
    // Not the socket's event: a scraper may send many requests over one connection.
    request.raw.once('close', () => watcher.close())
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
      watcher.close()
    }
  }

  function write(snapshot: ServerSnapshot, result: Probed, format: Format): string {
    return writeServer(snapshot, format) + writeProbed(result, format) + endings[format]
  }

  app.withTypeProvider<TypeBoxTypeProvider>().get('/probe', { schema }, async (request, reply) => {
    const { target: text, hostname, debug: wantsDebug } = request.query
    const timeout = probeTimeout(request.headers['x-prometheus-scrape-timeout-seconds'], options.timeout)
    const target = findTarget(fleet, text)
    if (target === undefined)
      throw invalidParameter(`Parameter "target" is ${shown(text)}; expected ${parameters.target.expected}.`)
    if (underWay >= concurrency) {
      throw unavailable('TOO_MANY_PROBES', `${concurrency} probes are under way; PROBE_CONCURRENCY allows no more.`, 1)
    }
    const wanted = withHostname(target, hostname)
    const started = clock.now()
    underWay++
    try {
      const debug = wantsDebug ? createDebugLog(() => clock.now(), `Probe of ${text}, at most ${timeout / 1000} s`) : undefined
      const phases = createPhaseRecorder(clock)
      const snapshot = await poll(wanted, request, { timeout, phases, debug })
      const duration = (clock.now() - started) / 1000
      const result: Probed = { success: snapshot.up === true, duration, phases: phases.durations() }
      if (debug === undefined) {
        const format = chooseFormat(request.headers.accept)
        return sendMetrics(request, reply, write(snapshot, result, format), format)
      }
      reply.headers({ 'content-type': textType, 'cache-control': 'no-store' })
      return reply.send(debug.text(snapshot, write(snapshot, result, 'prometheus')))
    } finally {
      underWay--
    }
  })
}
