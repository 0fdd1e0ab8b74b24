import type { PageServer, ServerState } from '../view/types.ts'
import type { StreamEvent } from './event-parser.ts'

interface Message extends Partial<ServerState> {
  readonly server: string
  readonly at: number
  readonly group?: string | null
  readonly address?: string | null
  readonly formattedMotd?: string | null
  readonly tickRateTarget?: number | null
  readonly error?: string | null
  readonly failing?: PageServer['failing']
}

/** An added server; its event has all values. */
const emptyServer = (name: string, state: ServerState): PageServer => ({
  name,
  group: null,
  address: null,
  state,
  formattedMotd: null,
  tickRateTarget: null,
  error: null,
  failing: [],
  lastContact: null,
})

/** The server after an event; undefined for an event without a state, and for a change of an unknown server. */
export function applyEvent({ event, data }: StreamEvent, find: (name: string) => PageServer | undefined): PageServer | undefined {
  if (event !== 'snapshot' && event !== 'change') return undefined
  const {
    server: name,
    at,
    group,
    address,
    formattedMotd,
    tickRateTarget,
    error,
    failing,
    ...state
  } = JSON.parse(data) as Message
  const before = find(name) ?? (event === 'snapshot' ? emptyServer(name, state as ServerState) : undefined)
  if (before === undefined) return undefined
  const next = { ...before.state, ...state }
  return {
    ...before,
    group: group === undefined ? before.group : group,
    address: address === undefined ? before.address : address,
    state: next,
    formattedMotd: formattedMotd === undefined ? before.formattedMotd : formattedMotd,
    tickRateTarget: tickRateTarget === undefined ? before.tickRateTarget : tickRateTarget,
    error: error === undefined ? before.error : error,
    failing: failing ?? before.failing,
    // Events tell of changes: until the one that tells that it is down, it was reached.
    lastContact: next.up === true || before.state.up === true ? at : before.lastContact,
  }
}

/** The servers that are no longer watched according to an event. */
export function removedBy({ event, data }: StreamEvent, known: readonly PageServer[]): readonly string[] {
  if (event === 'removed') return [(JSON.parse(data) as { readonly server: string }).server]
  if (event !== 'servers') return []
  const names = new Set((JSON.parse(data) as { readonly servers: readonly string[] }).servers)
  return known.flatMap(({ name }) => (names.has(name) ? [] : [name]))
}
