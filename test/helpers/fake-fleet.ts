import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { createFleet, type Fleet } from '../../src/game/fleet.ts'
import type { PollSettings } from '../../src/game/server-settings.ts'
import type { SourceName } from '../../src/game/sources/names.ts'
import type { Source } from '../../src/game/sources/source.ts'
import type { Clock } from '../../src/util/clock.ts'
import { silentLog } from '../../src/util/log.ts'

/** The result of the next polls of each source: fields, or the error it fails with. */
export type Script = Partial<Record<SourceName, Partial<Fields> | SourceError>>

export const testPoll: PollSettings = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }

export interface FakeFleet extends Fleet {
  /** The results of the sources from the next poll on; change it in place. */
  readonly scripts: Record<string, Script>
  pollAll(): Promise<void>
}

const bedrockAddress = { edition: 'bedrock', host: 'bedrock.test', port: 19_132 } as const

/**
 * A real fleet of real watchers with scripted sources; the first server is the primary. Servers named `bedrock...` have that
 * edition.
 */
export function fakeFleet(scripts: Record<string, Script>, clock: Clock): FakeFleet {
  const fleet = createFleet({
    servers: Object.keys(scripts).map((name) => ({
      name,
      sources: { ...(name.startsWith('bedrock') && { status: { address: bedrockAddress } }) },
    })),
    poll: testPoll,
    clock,
    log: silentLog,
    random: () => 0,
    createSources: ({ name: server }) => {
      const made = new Map<SourceName, Source>()
      const sourceOf = (name: SourceName): Source => {
        const source: Source = made.get(name) ?? {
          name,
          target: `${server}.test:${name}`,
          async poll() {
            const result = scripts[server]?.[name]
            if (result === undefined || result instanceof SourceError)
              throw result ?? new SourceError('internal', `${server}: no script for ${name}`)
            return { source: name, at: clock.now(), fields: result }
          },
          close() {},
        }
        made.set(name, source)
        return source
      }
      return { list: () => (Object.keys(scripts[server] ?? {}) as SourceName[]).map(sourceOf), close() {} }
    },
  })
  // Not spread: its getters read the current servers.
  return Object.assign(fleet, {
    scripts,
    async pollAll() {
      await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
    },
  })
}
