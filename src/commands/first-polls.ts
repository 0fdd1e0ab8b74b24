import type { Fleet } from '../game/fleet.ts'
import type { ServerSnapshot } from '../game/snapshot.ts'
import { descriptorOf } from '../game/sources/descriptor-of.ts'
import { stateNameOf } from '../game/state-name.ts'
import type { Log } from '../util/log.ts'

/** Maximum number of servers with a line each; others are counted. */
const maxNamed = 10

/** Servers that are polled for the first time: those of the start, or those of one change. */
interface Batch {
  pending: number
  named: number
  readonly counted: { up: number; hung: number; down: number; unknown: number }
}

function stateOf(snapshot: ServerSnapshot): keyof Batch['counted'] {
  if (snapshot.up === undefined) return 'unknown'
  return !snapshot.up ? 'down' : stateNameOf(snapshot) === 'hung' ? 'hung' : 'up'
}

function describePlayers({ playersOnline, playersMax }: ServerSnapshot['fields']): readonly string[] {
  if (playersOnline === undefined) return []
  return [`${playersOnline.value}${playersMax === undefined ? '' : ` of ${playersMax.value}`} players`]
}

function describeTicks({ fields, sources }: ServerSnapshot): readonly string[] {
  const { tickRate, tickDurationMean, tickCount, edition, proxy } = fields
  const source = (tickRate ?? tickDurationMean ?? tickCount)?.source
  if (source !== undefined) return [`ticks by ${descriptorOf(source).title}`]
  if (edition?.value === 'bedrock' || proxy?.value) return []
  // The failure of such a source is already logged.
  const providesTicks = (name: (typeof sources)[number]['source']) => 'tickDurationMean' in descriptorOf(name).fields
  return sources.some((one) => providesTicks(one.source)) ? [] : ['no tick data (needs RCON or JMX)']
}

/**
 * `survival up: Paper 1.21.11, 3 of 20 players, ticks by RCON`, or `survival hung: ...`; undefined for a server that cannot be
 * reached, because the reason is logged.
 */
function describe(snapshot: ServerSnapshot): string | undefined {
  const { server, fields } = snapshot
  if (!snapshot.up) return undefined
  const { software, version } = fields
  const parts = [
    ...((software ?? version) ? [`${software?.value ?? 'Minecraft'} ${version?.value ?? ''}`.trim()] : []),
    ...describePlayers(fields),
    ...describeTicks(snapshot),
  ]
  return `${server} ${stateNameOf(snapshot)}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`
}

/** Logs one line for each server after its first poll, up to {@link maxNamed} at a time, then a count. */
export function createFirstPolls(log: Log) {
  const waiting = new Map<string, Batch>()
  const found = new Map<string, string>()
  let stop: (() => void) | undefined

  const logFound = (server: string, text: string) => log.info({ server }, `${server}: ${text}`)

  function end(server: string, batch: Batch): void {
    waiting.delete(server)
    found.delete(server)
    batch.pending--
    const { up, hung, down, unknown } = batch.counted
    const count = up + hung + down + unknown
    if (batch.pending === 0 && count > 0) {
      const some = (number: number, state: string) => (number > 0 ? [`${number} ${state}`] : [])
      const states = [`${up} up`, ...some(hung, 'hung'), `${down} down`, ...some(unknown, 'unknown')].join(', ')
      log.info({ servers: count }, `and ${count} more ${count === 1 ? 'server' : 'servers'}: ${states}`)
    }
    if (waiting.size > 0) return
    stop?.()
    stop = undefined
  }

  function report(snapshot: ServerSnapshot): void {
    const { server } = snapshot
    const batch = waiting.get(server)
    if (batch === undefined || snapshot.lastPollAt === undefined) return
    if (batch.named < maxNamed) {
      batch.named++
      const text = describe(snapshot)
      if (text !== undefined) log.info({ server }, text)
      const fromDirectory = found.get(server)
      if (fromDirectory !== undefined) logFound(server, fromDirectory)
    } else batch.counted[stateOf(snapshot)]++
    end(server, batch)
  }

  function wait(servers: readonly string[], fleet: Pick<Fleet, 'subscribe'>): void {
    const batch: Batch = { pending: servers.length, named: 0, counted: { up: 0, hung: 0, down: 0, unknown: 0 } }
    for (const server of servers) waiting.set(server, batch)
    if (servers.length > 0) stop ??= fleet.subscribe(report)
  }

  return {
    /** Reports the servers of the fleet, and those that are added or changed later. */
    follow(fleet: Pick<Fleet, 'servers' | 'subscribe' | 'onChange'>): void {
      wait(
        fleet.servers.map(({ name }) => name),
        fleet,
      )
      fleet.onChange(({ added, changed, removed }) => {
        for (const server of [...changed, ...removed]) {
          const batch = waiting.get(server)
          if (batch !== undefined) end(server, batch)
        }
        wait([...added, ...changed], fleet)
      })
    },
    /** Reports the sources that were found in the directory of a server, after its first poll. */
    found(server: string, text: string): void {
      if (waiting.has(server)) found.set(server, text)
      else logFound(server, text)
    },
  }
}
