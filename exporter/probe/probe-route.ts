import { isIP } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Fleet } from '../../src/game/fleet.ts'
import type { Network } from '../../src/game/network.ts'
import { createPhaseRecorder, type PhaseRecorder } from '../../src/game/phases.ts'
import { addressOf } from '../../src/game/server-settings.ts'
import { security } from '../../src/http/openapi/docs.ts'
import { booleanParameter, optional, query, shown, textParameter, withDefault } from '../../src/http/parameters.ts'
import { problem, problems } from '../../src/http/replies/problem.ts'
import { textType } from '../../src/http/replies/reply.ts'
import { hostname as hostnameKind } from '../../src/settings/kinds/index.ts'
import type { Clock } from '../../src/util/clock.ts'
import { invalidParameter, RequestError, unavailable } from '../../src/util/errors.ts'
import { joinFirst } from '../../src/util/join-first.ts'
import type { MaintenanceOf } from '../../src/util/part-metrics.ts'
import { waitUpTo } from '../../src/util/wait-up-to.ts'
import { serverFamilies } from '../families/index.ts'
import { type Probed, probed } from '../families/probed.ts'
import { createExposition } from '../family-text.ts'
import { metricsSchema, sendMetrics } from '../metrics-route.ts'
import { chooseFormat } from '../negotiate.ts'
import { endings, type Format } from '../text.ts'
import { createAllowList } from './allow-list.ts'
import { createDebugLog, type DebugLog } from './debug.ts'
import { guardNetwork, traceNetwork } from './network.ts'
import { createTargetFinder, type Target } from './target.ts'
import { probeTimeout } from './timeout.ts'

export interface ProbeRouteOptions {
  readonly fleet: Fleet
  readonly clock: Clock
  /** Host patterns and CIDR ranges that may be probed besides the watched servers. */
  readonly allow: readonly string[]
  /** Maximum number of simultaneous probes. */
  readonly concurrency: number
  /** Milliseconds a probe may take if the scraper sends no timeout. */
  readonly timeout: number
  readonly network: Network
  readonly maintenanceOf: MaintenanceOf
}

/** The sources stop this many milliseconds before the deadline, so that the reply contains what they have read. */
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
      description: 'Host name sent in the handshake, if it differs from the address (MC_HOSTNAME)',
      example: 'lobby.example.org',
      maxLength: 253,
    }),
    ...hostnameKind,
  }),
  debug: withDefault(booleanParameter({ description: 'Return a log of the poll as plain text', example: true }), false),
}

/**
 * Names the watched servers on the same host. Does not reveal what the target resolves to: that may be an address of an internal
 * network.
 */
function notAllowed({ settings, onHost = [] }: Target, { basePath }: Pick<FastifyRequest, 'basePath'>): RequestError {
  const names = joinFirst(
    onHost.map(({ name }) => shown(name)),
    ', ',
  )
  const expected = `a watched server (${basePath}/sd lists them${names && `; on this host ${names}`})`
  const problem = `Parameter "target" is ${shown(settings.name)}; expected ${expected} or an address that PROBE_ALLOW covers.`
  return new RequestError(403, 'TARGET_NOT_ALLOWED', problem)
}

const schema = {
  tags: ['metrics'],
  summary: 'Metrics of one server',
  description:
    'Polls the server once for this request. The status is 200 even if the server does not answer; `minecraft_up` is 0 then.',
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
    ...problems(429),
    ...problem(503, { code: 'TOO_MANY_PROBES', detail: '64 probes are running, the maximum set by PROBE_CONCURRENCY.' }),
  },
}

/**
 * The target with another host name in the handshake.
 * @throws RequestError INVALID_PARAMETER for a Bedrock server
 */
function withHostname(target: Target, hostname: string | undefined): Target {
  if (hostname === undefined) return target
  const { settings } = target
  const { sources } = settings
  if (addressOf(settings)?.edition === 'bedrock') {
    throw invalidParameter(
      `Parameter "hostname" is ${shown(hostname)}; a Bedrock server does not support it, only Java servers have a handshake.`,
    )
  }
  return { ...target, settings: { ...settings, sources: { ...sources, status: { ...sources.status, hostname } } } }
}

interface Poll {
  /** Milliseconds for the whole poll. */
  readonly timeout: number
  readonly phases: PhaseRecorder
  readonly debug: DebugLog | undefined
}

/** `/probe?target=`: polls one server now. If the server is down, the reply has `minecraft_up 0`. */
export function registerProbeRoute(app: FastifyInstance, options: ProbeRouteOptions): void {
  const { fleet, clock, concurrency } = options
  const findTarget = createTargetFinder(fleet)
  const allowList = createAllowList(options.allow)
  const mayProbe = (host: string): boolean => (isIP(host) > 0 ? allowList.allows(host, host) : allowList.mayAllow(host))
  let running = 0

  /** Polls once with a separate watcher, which is always closed. At the deadline it returns what has been read so far. */
  async function poll(target: Target, request: FastifyRequest, { timeout, phases, debug }: Poll) {
    const { settings, configured } = target
    const host = addressOf(settings)?.host ?? ''
    if (!configured && !mayProbe(host)) throw notAllowed(target, request)
    const guard = configured ? undefined : guardNetwork(options.network, (address) => allowList.allows(host, address))
    // Traced from outside the guard, so that no refused address is shown.
    const network = guard ?? options.network
    const sourceTimeout = timeout - Math.min(maxSourceMargin, timeout / 2)
    const watcher = fleet.probe(settings, sourceTimeout, {
      network: debug ? traceNetwork(network, debug.note) : network,
      phases,
    })
    // Not the socket's event: a scraper may send many requests over one connection.
    request.raw.once('close', () => watcher.close())
    try {
      await waitUpTo(watcher.poll(), timeout, clock)
      const snapshot = watcher.snapshot()
      if (guard?.hasRefused() && snapshot.up !== true) throw notAllowed(target, request)
      return snapshot
    } finally {
      watcher.close()
    }
  }

  const { onRequest } = app.clientLimits.rateLimit('clientProbes')
  app.withTypeProvider<TypeBoxTypeProvider>().get('/probe', { schema, onRequest }, async (request, reply) => {
    const { target: text, hostname, debug: wantsDebug } = request.query
    const timeout = probeTimeout(request.headers['x-prometheus-scrape-timeout-seconds'], options.timeout)
    const target = findTarget(text)
    if (target === undefined)
      throw invalidParameter(`Parameter "target" is ${shown(text)}; expected ${parameters.target.expected}.`)
    if (running >= concurrency) {
      throw unavailable('TOO_MANY_PROBES', `${concurrency} probes are running, the maximum set by PROBE_CONCURRENCY.`, 1)
    }
    const wanted = withHostname(target, hostname)
    const started = clock.now()
    running++
    try {
      const debug = wantsDebug ? createDebugLog(() => clock.now(), `Probe of ${text}, at most ${timeout / 1000} s`) : undefined
      const phases = createPhaseRecorder(clock)
      const snapshot = await poll(wanted, request, { timeout, phases, debug })
      const duration = (clock.now() - started) / 1000
      const isMaintained = wanted.configured ? options.maintenanceOf(snapshot.server) !== null : undefined
      const result: Probed = { success: snapshot.up === true, duration, phases: phases.durations() }
      const write = (format: Format): string =>
        writeServer(snapshot, format, isMaintained) + writeProbed(result, format) + endings[format]
      if (debug === undefined) {
        const format = chooseFormat(request.headers.accept)
        return sendMetrics(request, reply, write(format), format)
      }
      reply.headers({ 'content-type': textType, 'cache-control': 'no-store' })
      return reply.send(debug.text(snapshot, write('prometheus')))
    } finally {
      running--
    }
  })
}
