import type { CountedServers } from './counted-servers.ts'
import { openEvents, type ReceivedEvent } from './event-client.ts'
import { rest, type ServiceProcess } from './replica-process.ts'

/** What must not happen, and how much was observed. */
export interface Observations {
  readonly wrong: string[]
  /** What happens at the moment. */
  phase: string
  replies: number
  events: number
}

export interface ReplicaFollower {
  readonly replica: ServiceProcess
  /** Whether its replies are checked. */
  isHealthy: boolean
  end(): Promise<void>
}

/**
 * Milliseconds before the reply of the previous value by which a value may have been read: two replicas that poll a server at the
 * same time may receive its replies in another order than it sent them (docs/replicas.md), however late on a busy machine.
 */
const maxBackMs = 150

/** Reports player counts that are older than those before them. Each server reports a higher one in each reply. */
function createOrder(servers: CountedServers, report: (text: string) => void) {
  const newest = new Map<string, number>()
  return (server: string, online: unknown) => {
    if (typeof online !== 'number') return
    const before = newest.get(server) ?? 0
    newest.set(server, online)
    if (online >= before) return
    const number = Number(server.slice(1))
    const backMs = servers.repliedAt(number, before) - servers.readAt(number, online)
    if (!(backMs <= maxBackMs)) report(`${server} went back from ${before} to ${online}, by ${backMs.toFixed(0)} ms`)
  }
}

/** Checks the events that a client receives. @param report called with what is wrong */
export function createEventCheck(servers: CountedServers, report: (text: string) => void) {
  const checkOrder = createOrder(servers, (text) => report(`events: ${text}`))
  const ups = new Map<string, unknown>()
  let lastId = 0
  return ({ id, event, data: { server, up, online } }: ReceivedEvent) => {
    if (Number(id) <= lastId) report(`the event ${id} follows ${lastId}`)
    lastId = Number(id)
    checkOrder(server, online)
    if (up === null) report(`${event} of ${server} with up: null`)
    if (event === 'snapshot') ups.set(server, up)
    if (event !== 'up' && event !== 'down') return
    if (ups.get(server) === (event === 'up')) report(`${event} of ${server}, which was ${event} already`)
    ups.set(server, event === 'up')
  }
}

/**
 * Follows the events of a replica and requests everything of the servers s0, s1 and so on.
 * @param steady number of servers that are always up
 */
export async function followReplica(
  replica: ServiceProcess,
  servers: CountedServers,
  steady: number,
  seen: Observations,
): Promise<ReplicaFollower> {
  let isOver = false
  const follower = { replica, isHealthy: true, end }
  const report = (text: string) => {
    if (follower.isHealthy && !isOver) seen.wrong.push(`${seen.phase}: ${replica.name}: ${text}`)
  }
  const check = createEventCheck(servers, report)
  const client = await openEvents(`${replica.url}/api/v1/events`)
  const take = () => {
    const events = client.events.splice(0)
    seen.events += events.length
    events.forEach(check)
  }
  client.response.on('data', take)
  take()

  const checkOrder = createOrder(servers, (text) => report(`getall: ${text}`))
  async function request(server: string): Promise<void> {
    try {
      const response = await replica.get(`/api/v1/servers/${server}/getall`)
      const text = await response.text()
      seen.replies++
      if (response.ok) checkOrder(server, JSON.parse(text).METADATA.PLAYERS.ONLINE)
      else report(`getall of ${server}: ${response.status} ${text}`)
    } catch (error) {
      report(`getall of ${server}: ${(error as Error).message}`)
    }
  }
  async function requestAll(): Promise<void> {
    for (let index = 0; !isOver; index = (index + 7) % steady) {
      const startedAt = performance.now()
      if (follower.isHealthy) await request(`s${index}`)
      // Each about once in a second, as they are polled.
      await rest(startedAt, 1_000 / steady)
    }
  }
  const isRequesting = requestAll()

  async function end(): Promise<void> {
    isOver = true
    client.close()
    await isRequesting
  }
  return follower
}
