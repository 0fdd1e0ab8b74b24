import type { LiveEvent } from './event.ts'
import { formatMessage } from './event.ts'
import type { EventLog } from './event-log.ts'
import type { PublishedState, PublishedStates } from './published-states.ts'
import type { SentState } from './state.ts'

/** The messages that a client is sent before new events: snapshots, or the events that it missed. */
export interface Backlog {
  /** The messages, each formatted when it is taken. */
  readonly messages: Generator<string>
  /** Whether a new event must be sent at once, because the rest of the backlog has neither this event nor a state after it. */
  isAhead(event: LiveEvent): boolean
}

/** The JSON of a state, which is sent to many clients when they connect. */
const jsonOf = new WeakMap<SentState, string>()

function snapshotJson(server: string, { state, at }: PublishedState): string {
  const json = jsonOf.get(state) ?? JSON.stringify({ server, at, ...state })
  jsonOf.set(state, json)
  return json
}

/**
 * The state of each server. A client may resume from the last message, not from those before.
 * @param servers and their positions, in order
 * @param list returns the JSON of a message `servers` that is sent first
 */
export function snapshotBacklog(
  servers: ReadonlyMap<string, number>,
  log: EventLog,
  states: PublishedStates,
  list?: () => string,
): Backlog {
  /** Number of servers whose states have been sent. */
  let done = 0

  function* messages(): Generator<string> {
    if (list !== undefined) yield formatMessage(servers.size === 0 ? log.endId() : log.listId(), 'servers', list())
    for (const [server, position] of servers) {
      done = position + 1
      const current = states.read(server)
      // Removed while the others were being sent.
      if (current === undefined) continue
      yield formatMessage(done === servers.size ? log.endId() : log.listId(), 'snapshot', snapshotJson(server, current))
    }
  }

  return {
    messages: messages(),
    // A server that has been added since is not among `servers`. One that has been removed has no state, but a client that has
    // reconnected may have its old one.
    isAhead: ({ server }) => (servers.get(server) ?? -1) < done || !states.has(server),
  }
}

/**
 * The events that a client has missed. New events are among them.
 * @param lastId the last event that the client received, which `log` must have
 * @param servers whose events it is sent; undefined: all
 * @param createSnapshots sent instead if it reads so slowly that `log` drops events before they have been sent
 */
export function missedBacklog(
  log: EventLog,
  lastId: number,
  servers: ReadonlySet<string> | undefined,
  createSnapshots: () => Backlog,
): Backlog {
  let snapshots: Backlog | undefined

  function* messages(): Generator<string> {
    let id = lastId
    for (let event = log.next(id); event !== undefined; event = log.next(id)) {
      if (!log.isComplete(id)) {
        snapshots = createSnapshots()
        yield* snapshots.messages
        return
      }
      id = event.id
      if (servers === undefined || servers.has(event.server)) yield event.bytes.toString()
    }
  }

  return { messages: messages(), isAhead: (event) => snapshots?.isAhead(event) ?? false }
}
