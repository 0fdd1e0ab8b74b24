import type { Config } from '../config/config.ts'
import { unknownState } from '../live/state.ts'
import { createNotification, type NotifiedEvent, notifiedEvents, type TemplateValues } from '../notify/notification.ts'
import { createChannelClient, createContext } from '../notify/sender.ts'
import { UsageError } from '../util/usage-error.ts'
import type { Call } from './command.ts'

const sampleState = {
  ...{ up: true, online: 20, max: 20, players: null, version: '1.21.11', software: 'vanilla', motd: 'A Minecraft Server' },
  ...{ tickRate: 14.2, tickTimeMean: 70.4, tickTimeP99: 104.1, paused: false, frozen: false, responsive: true, latency: 12 },
  maintenance: null,
}

function sampleOf(event: NotifiedEvent, server: string, group: string | null, at: number): TemplateValues {
  const isDown = event === 'down'
  return {
    ...{ event, at, server, group, player: 'Steve' },
    error: isDown ? 'refused' : event === 'trouble' ? 'source rcon fails (auth)' : null,
    duration: event === 'up' || event === 'restart' ? 48 : null,
    state: isDown ? { ...unknownState, up: false } : sampleState,
  }
}

/**
 * `tickwarden notify --test`: sends a sample to one channel or all, without the outbox.
 * @returns the exit code
 * @throws UsageError
 */
export async function runNotify(
  { args, flags }: Pick<Call, 'args' | 'flags'>,
  config: Config,
  { log, error: printError }: Pick<Console, 'log' | 'error'>,
): Promise<number> {
  if (flags.test !== true) throw new UsageError('notify has one use: notify --test [channel] [event]')
  const { notify, servers } = config
  if (notify === undefined || notify.channels.length === 0) {
    printError('No notification channel is configured: list channels below notify in the config file.')
    return 4
  }
  const { channels, allowPrivate, publicUrl } = notify
  const isEventOnly =
    args.length === 1 && notifiedEvents.includes(args[0] ?? '') && !channels.some(({ name }) => name === args[0])
  const [channel, event = 'down'] = isEventOnly ? [undefined, args[0]] : args
  const chosen = channels.filter(({ name }) => channel === undefined || name === channel)
  if (chosen.length === 0)
    throw new UsageError(`unknown channel "${channel}"; the channels are ${channels.map(({ name }) => name).join(', ')}`)
  const client = createChannelClient(allowPrivate)
  const now = Date.now()
  const [{ name: server = 'survival', group = null } = {}] = servers
  const results = chosen.map(async (settings) => {
    const { name, type, values } = settings
    const notification = createNotification(
      settings.templates,
      sampleOf(event as NotifiedEvent, server, group, now),
      now,
      type.quote,
    )
    try {
      const context = createContext({ type, client, allowPrivate, now: Date.now })
      await type.send(
        { notifications: [{ ...notification, text: `Test: ${notification.text}` }], more: 0, at: now, publicUrl },
        values,
        context,
      )
      log(`${name}: sent`)
      return true
    } catch (error) {
      printError(`${name}: not sent: ${(error as Error).message}`)
      return false
    }
  })
  const isSent = (await Promise.all(results)).every((result) => result)
  await client.close()
  return isSent ? 0 : 1
}
