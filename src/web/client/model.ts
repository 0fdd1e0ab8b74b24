import type { PageServer, ServerState } from '../view/types.ts'
import type { StreamEvent } from './event-parser.ts'

interface Message extends Partial<ServerState> {
  readonly server: string
  readonly at: number
  readonly error?: string | null
}

/** The server after an event; undefined for an event without a state, and for a change of an unknown server. */
export function applyEvent({ event, data }: StreamEvent, find: (name: string) => PageServer | undefined): PageServer | undefined {
  if (event !== 'snapshot' && event !== 'change') return undefined
  const { server: name, at, error, ...changed } = JSON.parse(data) as Message
  const before = find(name)
  if (before === undefined && event === 'change') return undefined
  // A snapshot has all values.
  const state = { ...before?.state, ...changed } as ServerState
  // Events tell of changes: until the one that tells that it is down, it was reached.
  const isReached = state.up === true || before?.state.up === true
  const { lastContact = null } = before ?? {}
  return { name, state, error: error === undefined ? (before?.error ?? null) : error, lastContact: isReached ? at : lastContact }
}

/** The servers that are no longer watched according to an event. */
export function removedBy({ event, data }: StreamEvent, known: readonly PageServer[]): readonly string[] {
  if (event === 'removed') return [(JSON.parse(data) as { readonly server: string }).server]
  if (event !== 'servers') return []
  const names = new Set((JSON.parse(data) as { readonly servers: readonly string[] }).servers)
  return known.flatMap(({ name }) => (names.has(name) ? [] : [name]))
}
