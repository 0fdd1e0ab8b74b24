import { hostPort, text } from '../../../config/kinds.ts'
import { type SourceErrorCode, toSourceError } from '../../errors.ts'
import type { Fields } from '../../fields.ts'
import { defaultPorts, formatHostPort } from '../../protocol/address.ts'
import { isOn, portIn } from '../../protocol/server-properties.ts'
import { networkHints } from '../hints.ts'
import type { Source, SourceContext, SourceDescriptor } from '../source.ts'
import type { RconConnection } from './connection.ts'
import { createRconMemory, logOnce } from './planner.ts'
import { createRconSession, type RconSettings } from './session.ts'
import { createTickRate } from './tick-rate.ts'
import { createRconSilence, logSilence } from './unanswered-commands.ts'

/** How a command may end that takes the connection along, but not what was answered before it. */
const endings: ReadonlySet<SourceErrorCode> = new Set(['timeout', 'closed', 'malformed', 'too_large'])

/**
 * RCON: what the server's own commands tell, over one kept connection. Only the commands of `protocol/rcon-commands.ts` are
 * sent, at most four in a poll; some in every one (ticks, players), others in turn. Where one of them is not answered, a
 * poll has what was answered before it.
 */
export function createRconSource(settings: RconSettings, context: SourceContext): Source {
  const { clock, log } = context
  const target = formatHostPort(settings.address)
  const phases = context.phases?.timer('rcon')
  const session = createRconSession(settings, context, phases)
  const notUnderstood = logOnce(log, target)
  let learnedOver: RconConnection | undefined
  const silence = createRconSilence(logSilence(log, target))
  let memory = createRconMemory(silence, notUnderstood)
  let tickRate = createTickRate()

  async function read(signal: AbortSignal): Promise<Partial<Fields>> {
    const connection = await session.connection(signal)
    if (connection !== learnedOver) {
      // Behind a new connection may be another server, or the same after a pause of unknown length.
      learnedOver = connection
      memory = createRconMemory(silence, notUnderstood)
      tickRate = createTickRate()
    }
    const now: Partial<Fields> = {}
    let longest = 0
    let answered = 0
    for (const { command, take } of memory.plan(clock.now())) {
      const asked = clock.now()
      try {
        Object.assign(now, take(await connection.request(command, signal)))
      } catch (thrown) {
        const { code } = toSourceError(thrown, target)
        if (!endings.has(code)) throw thrown
        if (answered === 0) {
          silence.doubt(command)
          throw thrown
        }
        // Where the others have used up most of the time, it is the server that is slow.
        if (code !== 'timeout' || clock.now() - asked >= 3 * longest) silence.unanswered(command, clock.now())
        break
      }
      silence.answered(command)
      answered++
      longest = Math.max(longest, clock.now() - asked)
    }
    return { ...memory.fields(), ...rateOf(now) }
  }

  function rateOf({ tickCount, playersOnline, tickFrozen, tickSprinting, tickRateTarget }: Partial<Fields>): Partial<Fields> {
    if (tickCount === undefined) return {}
    return tickRate({ ...tickCount, playersOnline, frozen: tickFrozen, sprinting: tickSprinting, target: tickRateTarget })
  }

  return {
    name: 'rcon',
    target,
    async poll(signal) {
      try {
        phases?.start()
        const fields = await read(signal)
        phases?.end('read')
        session.settled()
        return { source: 'rcon', at: clock.now(), fields }
      } catch (thrown) {
        const error = toSourceError(thrown, target)
        session.settled(error)
        throw error
      }
    },
    close: () => session.close(),
  }
}

export const rcon: SourceDescriptor<'rcon', RconSettings> = {
  name: 'rcon',
  title: 'RCON',
  settings: {
    address: {
      env: 'MC_RCON',
      file: 'rcon.address',
      kind: hostPort(defaultPorts.rcon),
      required: true,
      fallback: ({ host }) => ({ host, port: defaultPorts.rcon }),
      otherwise: 'off',
      meaning: 'RCON address',
    },
    password: {
      env: 'MC_RCON_PASSWORD',
      file: 'rcon.password',
      kind: text,
      required: true,
      secret: true,
      meaning: 'RCON password',
    },
  },
  fields: {
    version: 30,
    protocol: 30,
    software: 30,
    playersOnline: 20,
    playersMax: 20,
    players: 20,
    tickCount: 10,
    tickDurationMean: 10,
    tickDurationP50: 10,
    tickDurationP95: 10,
    tickDurationP99: 10,
    tickRate: 10,
    tickRateTarget: 10,
    tickFrozen: 10,
    tickSprinting: 10,
    tickPaused: 10,
    paperTickRates: 10,
    dimensions: 10,
    worldDay: 10,
    worldTimeOfDay: 10,
    difficulty: 20,
  },
  requires: {
    tickDurationMean: 'game version 1.20.3 and later, Paper, Forge, NeoForge',
    tickDurationP50: 'game version 1.20.3 and later',
    tickDurationP95: 'game version 1.20.3 and later',
    tickDurationP99: 'game version 1.20.3 and later',
    tickRateTarget: 'game version 1.20.3 and later',
    tickFrozen: 'game version 1.20.3 and later',
    tickSprinting: 'game version 1.20.3 and later',
    paperTickRates: 'Paper',
    dimensions: 'Forge and NeoForge',
  },
  hints: {
    notConfigured: 'enable-rcon=true and MC_RCON_PASSWORD',
    ...networkHints('are enable-rcon=true and this rcon.port in its server.properties, and may this machine connect?'),
    malformed: 'is this the rcon.port of its server.properties?',
    auth: 'the password (MC_RCON_PASSWORD) must be the rcon.password of its server.properties',
  },
  cost: 'one connection, at most four commands per poll, which run on the main thread between two ticks',
  network: true,
  pushes: false,
  editions: ['java'],
  discover({ properties }, _given, server) {
    const password = properties.get('rcon.password')
    return {
      ...(server &&
        isOn(properties, 'enable-rcon') && {
          address: { host: server.host, port: portIn(properties, 'rcon.port') ?? defaultPorts.rcon },
        }),
      ...(password && { password }),
    }
  },
  create: createRconSource,
}
