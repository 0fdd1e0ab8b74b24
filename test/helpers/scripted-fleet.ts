import { pino } from 'pino'
import { loadConfig } from '../../src/config/config.ts'
import type { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { createFleet, type Fleet } from '../../src/game/fleet.ts'
import type { ServerSettings } from '../../src/game/server-settings.ts'
import type { SourceName } from '../../src/game/sources/names.ts'
import type { Source } from '../../src/game/sources/source.ts'
import { formatHostPort } from '../../src/util/address.ts'
import type { Clock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'

/** The result of a poll of a source: fields, an error, or a poll that never ends. */
export type Answer = Partial<Fields> | SourceError | 'never'

/** By server, then by source; read on each poll, so that a test may change it. */
export type Script = Record<string, Partial<Record<SourceName, Answer>>>

export const addressOf = (index: number) => ({ host: '127.0.0.1', port: 25_600 + index, edition: 'java' as const })

/** A fleet with scripted sources; everything else is real. */
export function scriptedFleet(script: Script, clock: Clock, servers?: readonly ServerSettings[]): Fleet {
  const { poll } = loadConfig({ env: {} })
  return createFleet({
    servers: servers ?? Object.keys(script).map((name, index) => ({ name, sources: { status: { address: addressOf(index) } } })),
    poll,
    clock,
    log: silentLog,
    random: () => 0,
    createSources({ name: server, sources: { status } }) {
      const address = status?.address
      const sources = Object.keys(script[server] ?? {}).map((name): Source => {
        const source = name as SourceName
        return {
          name: source,
          target: source === 'status' && address !== undefined ? formatHostPort(address) : `${server}:${source}`,
          async poll(signal) {
            const answer = script[server]?.[source]
            if (answer === 'never')
              return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
            if (answer instanceof Error) throw answer
            return { source, at: clock.now(), fields: answer ?? {} }
          },
          // RCON commands run on the main thread.
          mainThread() {
            const answer = script[server]?.rcon
            if (source !== 'rcon' || answer instanceof Error) return {}
            return answer === 'never' ? { waitingSince: 0, lateAfterMs: 1_000 } : { answeredAt: clock.now(), delayMs: 31 }
          },
          close() {},
        }
      })
      return { list: () => sources, close() {} }
    },
  })
}

export const silentLogger = pino({ level: 'silent' })
