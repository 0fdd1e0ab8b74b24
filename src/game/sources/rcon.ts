import { toSourceError } from '../errors.ts'
import type { Fields } from '../fields.ts'
import { type Network, systemNetwork } from '../network.ts'
import { formatHostPort } from '../protocol/address.ts'
import { createTickRate } from '../tick-rate.ts'
import type { RconConnection } from './rcon-connection.ts'
import { createRconMemory, logOnce } from './rcon-memory.ts'
import { createRconSession, type RconSettings } from './rcon-session.ts'
import type { Source, SourceContext } from './source.ts'

/**
 * RCON: what the server's own commands tell, over one kept connection. Only the commands of `protocol/rcon-commands.ts` are
 * sent, at most four in a poll; some in every one (ticks, players), others in turn.
 */
export function createRconSource(settings: RconSettings, context: SourceContext, network: Network = systemNetwork): Source {
  const { clock, log } = context
  const target = formatHostPort(settings.address)
  const session = createRconSession(settings, context, network)
  const notUnderstood = logOnce(log, target)
  let learnedOver: RconConnection | undefined
  let memory = createRconMemory(notUnderstood)
  let tickRate = createTickRate()

  async function read(signal: AbortSignal): Promise<Partial<Fields>> {
    const connection = await session.connection(signal)
    if (connection !== learnedOver) {
      // Behind a new connection may be another server, or the same after a pause of unknown length.
      learnedOver = connection
      memory = createRconMemory(notUnderstood)
      tickRate = createTickRate()
    }
    const now: Partial<Fields> = {}
    for (const { command, take } of memory.plan(clock.now())) Object.assign(now, take(await connection.request(command, signal)))
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
        const fields = await read(signal)
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
