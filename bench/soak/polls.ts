import { setImmediate } from 'node:timers/promises'
import { request } from 'undici'
import type { GameServers, PollCount } from './game-servers.ts'
import { hostNameOf, type Replica } from './services.ts'

/** A time in which the same replica polls a server, so that its counter does not begin again. */
interface Run {
  /** By how much the counter of the metrics differs from that of the server: polls before this time. */
  offset: number
  /** Whether the offset has been seen twice. */
  isSure: boolean
  /** Polls that the metrics and the server had counted when the offset was last seen. */
  told: number
  begun: number
  inARow: number
  /** Consecutive times that they differed. */
  differed: number
}

/**
 * Polls in a row after which the counter in the metrics is that of the replica itself. Before its first poll it shows the one of the
 * previous owner; if both polled the server at the same time, until its second poll.
 */
const minInARow = 2
/** A poll that has ended is in the metrics a moment later: those that have ended since are not compared yet. */
const settleMs = 1_000
/** How often in a row the counts may differ, because the machine is too busy for that. */
const maxDiffering = 3

/**
 * Compares the polls that the servers have counted with those in the metrics of the replicas. A counter begins again when another
 * replica has polled the server, so its growth since then is compared.
 */
export class PollCheck {
  readonly #servers: GameServers
  readonly #indices: ReadonlyMap<string, number>
  readonly #runs = new Map<string, Run>()
  compared = 0
  readonly problems: string[] = []

  /** @param indices of the servers, by name */
  constructor(servers: GameServers, indices: ReadonlyMap<string, number>) {
    this.#servers = servers
    this.#indices = indices
  }

  /** @throws Error if the request failed */
  async scrape({ name, url }: Replica): Promise<void> {
    const polls = new Map([...this.#indices].map(([server, index]) => [server, this.#servers.polls(index, hostNameOf(name))]))
    const settled = performance.now() - settleMs
    const idle = new Map(
      [...polls].flatMap(([server, { begun, ended, endedAt }]) =>
        begun === ended && endedAt < settled ? [[server, begun]] : [],
      ),
    )
    const { statusCode, body } = await request(`${url}/metrics`, { headers: { accept: 'text/plain;version=0.0.4' } })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`/metrics: ${statusCode} ${text.slice(0, 200)}`)
    // A poll that began before the reply is known here after one turn of the event loop.
    await setImmediate()
    await setImmediate()
    const told = readPolls(text)
    for (const [server, count] of polls) {
      const key = `${name} ${server}`
      const value = told.get(server)
      const run = this.#runs.get(key)
      // After so many polls that its value is no smaller, a counter that has begun again cannot be told from one that lacks polls.
      const mayHaveBegunAgain = run !== undefined && count.begun - run.begun >= run.told
      const hasBegunAgain =
        run !== undefined && (value === undefined || value < run.told || count.inARow < run.inARow || mayHaveBegunAgain)
      if (hasBegunAgain) this.#runs.delete(key)
      if (value === undefined || hasBegunAgain || count.inARow < minInARow) continue
      // Otherwise a poll is in progress: a later scrape compares.
      if (idle.get(server) === count.begun) this.#compare(key, run, value, count)
    }
  }

  #compare(key: string, run: Run | undefined, told: number, { begun, inARow }: PollCount): void {
    const offset = told - begun
    if (run?.offset === offset) {
      this.compared += told - run.told
      Object.assign(run, { isSure: true, told, begun, inARow, differed: 0 })
    } else if (!run?.isSure) this.#runs.set(key, { offset, isSure: false, told, begun, inARow, differed: 0 })
    else if (++run.differed === maxDiffering)
      this.problems.push(`${key}: the metrics have ${offset - run.offset} more polls than the server`)
  }
}

/** The polls by server, of all outcomes. A server of a busy machine may not have noticed one that timed out: it is absent. */
function readPolls(text: string): ReadonlyMap<string, number> {
  const polls = new Map<string, number>()
  const timedOut = new Set<string>()
  for (const [, server = '', outcome, value] of text.matchAll(
    /^minecraft_polls_total\{server="([^"]+)",outcome="(\w+)"\} (\d+)$/gm,
  )) {
    polls.set(server, (polls.get(server) ?? 0) + Number(value))
    if (outcome === 'timeout') timedOut.add(server)
  }
  for (const server of timedOut) polls.delete(server)
  return polls
}
