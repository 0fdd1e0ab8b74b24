import { baseUrl, text } from '../../../settings/kinds/index.ts'
import type { AbortSignalLike } from '../../../util/abortable.ts'
import { basicAuthorization } from '../../../util/basic-authorization.ts'
import { requestBounded } from '../../bounded-http.ts'
import { SourceError, toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { systemNetwork } from '../../network.ts'
import { bulkRequest, decodeBulkReply, type JmxReading } from '../../protocol/jolokia.ts'
import { networkHints } from '../hints.ts'
import { type Source, type SourceContext, type SourceDescriptor, unmeasured } from '../source.ts'
import { createTickRing } from './tick-ring.ts'

const maxBytes = 64 * 1024

export interface JmxSettings {
  /** URL of the Jolokia agent in the server's JVM: `http://host:8778/jolokia`. */
  readonly url: string
  readonly user?: string
  readonly password?: string
}

/**
 * Reads a server by JMX through the Jolokia JVM agent (https://jolokia.org): the durations of the last 100 ticks, measured by the
 * server itself, and memory, garbage collections and threads of the JVM. One request per poll.
 */
export function createJmxSource({ url, user, password }: JmxSettings, context: SourceContext): Source {
  const { clock, log, network = systemNetwork, measure = unmeasured } = context
  // The agent requires a trailing slash.
  const endpoint = new URL(url.endsWith('/') ? url : `${url}/`)
  const target = endpoint.host
  const authorization = user === undefined ? undefined : basicAuthorization(user, password ?? '')
  const ring = createTickRing()
  let hadTickBean = true

  async function read(signal: AbortSignalLike): Promise<Partial<Fields>> {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    const { status, body } = await requestBounded(
      { method: 'POST', url: endpoint, headers, body: bulkRequest, maxBytes },
      network,
      signal,
    )
    if (status !== 200) {
      const code = status === 401 || status === 403 ? 'auth' : 'unsupported'
      throw new SourceError(code, `${target}: HTTP ${status}`)
    }
    const reading = measure(() => decodeBulkReply(body.toString('utf8')))
    if (hadTickBean && !reading.hasTickBean) {
      log.warn(
        { source: 'jmx' },
        `${target}: the JVM publishes no ticks: set enable-jmx-monitoring=true in the server's server.properties`,
      )
    }
    hadTickBean = reading.hasTickBean
    const areCurrent = ring.read(reading.ticks, clock.now())
    return toFields(reading, areCurrent)
  }

  return {
    name: 'jmx',
    target,
    async poll(signal) {
      try {
        signal.throwIfAborted()
        return { source: 'jmx', fields: await read(signal), at: clock.now() }
      } catch (error) {
        ring.forget()
        throw toSourceError(error, target)
      }
    },
    mainThread: ring.activity,
    close() {},
  }
}

function toFields({ ticks, memoryPools, garbageCollectors, threads }: JmxReading, areTicksCurrent: boolean): Partial<Fields> {
  return {
    ...(areTicksCurrent &&
      ticks && {
        tickDurationMean: ticks.mean,
        tickDurationP50: ticks.p50,
        tickDurationP95: ticks.p95,
        tickDurationP99: ticks.p99,
        tickDurationMax: ticks.max,
      }),
    ...(memoryPools.length > 0 && { jvmMemoryPools: memoryPools }),
    ...(garbageCollectors.length > 0 && { jvmGarbageCollectors: garbageCollectors }),
    ...(threads !== undefined && { jvmThreads: threads }),
  }
}

export const jmx: SourceDescriptor<'jmx', JmxSettings> = {
  name: 'jmx',
  title: 'JMX',
  settings: {
    url: {
      env: 'MC_JMX',
      file: 'jmx.url',
      kind: baseUrl('http:', 'https:'),
      required: true,
      otherwise: 'off',
      meaning: "URL of Jolokia's agent in its JVM, such as http://host:8778/jolokia",
    },
    user: { env: 'MC_JMX_USER', file: 'jmx.user', kind: text, needs: 'password', meaning: 'user name for the agent' },
    password: {
      env: 'MC_JMX_PASSWORD',
      file: 'jmx.password',
      kind: text,
      secret: true,
      needs: 'user',
      meaning: 'password for the agent',
    },
  },
  // Ranked before RCON: computed from the samples themselves.
  fields: {
    tickDurationMean: 5,
    tickDurationP50: 5,
    tickDurationP95: 5,
    tickDurationP99: 5,
    tickDurationMax: 10,
    jvmMemoryPools: 10,
    jvmGarbageCollectors: 10,
    jvmThreads: 10,
  },
  requires: { tickDurationMax: 'game version 1.16 and later' },
  hints: {
    notConfigured: 'enable-jmx-monitoring=true, -javaagent:jolokia-agent-jvm.jar and MC_JMX',
    ...networkHints(
      'was the server started with -javaagent:jolokia-agent-jvm.jar=port=...,host=..., and may this machine connect?',
    ),
    auth: "MC_JMX_USER and MC_JMX_PASSWORD must be the user and password of the agent's options",
    unsupported: 'is this the URL of the agent, with its path (/jolokia)?',
    malformed: 'is this the URL of the agent, with its path (/jolokia)?',
    closed: 'is this the URL of the agent, with its path (/jolokia), and does it start with https:// if the agent uses TLS?',
    tls: 'does the agent use TLS, with a certificate that Node.js trusts? NODE_EXTRA_CA_CERTS adds a certificate authority',
  },
  timeoutHints: {
    connected:
      'the connection is accepted, but the request is not answered: is this the port of the agent, or does its JVM hang?',
  },
  cost: 'one request per poll, which does not run on the main thread',
  // The JVM answers even if the game server in it does not.
  network: false,
  pushes: false,
  editions: ['java'],
  create: createJmxSource,
}
