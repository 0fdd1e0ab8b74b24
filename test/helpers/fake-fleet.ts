import type { Clock } from '../../src/clock.ts'
import { SourceError } from '../../src/game/errors.ts'
import type { Fields } from '../../src/game/fields.ts'
import { createFleet, type Fleet } from '../../src/game/fleet.ts'
import type { PollSettings } from '../../src/game/server.ts'
import type { Source, SourceName } from '../../src/game/sources/source.ts'
import { silentLog } from '../../src/log.ts'

/** What each source of a server gives at its next polls: fields, or the error it fails with. */
export type Script = Partial<Record<SourceName, Partial<Fields> | SourceError>>

export const testPoll: PollSettings = { interval: 5_000, timeout: 3_000, staleAfter: 15_000 }

export interface FakeFleet extends Fleet {
  /** What the sources say from the next poll on; change it in place. */
  readonly scripts: Record<string, Script>
  pollAll(): Promise<void>
}

const bedrockAddress = { edition: 'bedrock', host: 'bedrock.test', port: 19_132 } as const

/** A real fleet of real watchers, the first one the primary, whose sources say what the scripts say. Those called `bedrock...` are of that edition. */
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
            const said = scripts[server]?.[name]
            if (said === undefined || said instanceof SourceError)
              throw said ?? new SourceError('internal', `${server}: no script for ${name}`)
            return { source: name, at: clock.now(), fields: said }
          },
          close() {},
        }
        made.set(name, source)
        return source
      }
      return { list: () => (Object.keys(scripts[server] ?? {}) as SourceName[]).map(sourceOf), close() {} }
    },
  })
  // Not spread: its getters read what is watched now.
  return Object.assign(fleet, {
    scripts,
    async pollAll() {
      await Promise.all(fleet.watchers.map((watcher) => watcher.poll()))
    },
  })
}
