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

export interface SnapshotBacklogOptions {
  /** The servers and their positions, in order. */
  readonly servers: ReadonlyMap<string, number>
  readonly log: EventLog
  readonly states: PublishedStates
  /** Returns the JSON of a message `servers` that is sent first. */
  readonly list?: () => string
}

/** The state of each server. A client may resume from the last message, not from those before. */
export function snapshotBacklog({ servers, log, states, list }: SnapshotBacklogOptions): Backlog {
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

export interface MissedBacklogOptions {
  readonly log: EventLog
  /** The last event that the client received, which `log` must have. */
  readonly lastId: number
  /** Whether the client is sent this event. */
  readonly isWanted: (event: LiveEvent) => boolean
  /** Sent instead if the client reads so slowly that `log` drops events before they have been sent. */
  readonly createSnapshots: () => Backlog
}

/** The events after `lastId`. New events are among them. */
export function missedBacklog({ log, lastId, isWanted, createSnapshots }: MissedBacklogOptions): Backlog {
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
      if (isWanted(event)) yield event.bytes.toString()
    }
  }

  return { messages: messages(), isAhead: (event) => snapshots?.isAhead(event) ?? false }
}
