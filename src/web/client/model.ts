import type { PageServer, ServerState } from '../view/types.ts'
import type { StreamEvent } from './event-parser.ts'

interface Message extends Partial<ServerState> {
  readonly server: string
  readonly at: number
  readonly formattedMotd?: string | null
  readonly tickRateTarget?: number | null
  readonly error?: string | null
  readonly failing?: PageServer['failing']
}

/** What an event changes of a server; undefined for an unknown server and an event without a state. */
export function applyEvent({ event, data }: StreamEvent, find: (name: string) => PageServer | undefined): PageServer | undefined {
  if (event !== 'snapshot' && event !== 'change') return undefined
  const { server: name, at, formattedMotd, tickRateTarget, error, failing, ...state } = JSON.parse(data) as Message
  const before = find(name)
  if (before === undefined) return undefined
  const next = { ...before.state, ...state }
  return {
    ...before,
    state: next,
    formattedMotd: formattedMotd === undefined ? before.formattedMotd : formattedMotd,
    tickRateTarget: tickRateTarget === undefined ? before.tickRateTarget : tickRateTarget,
    error: error === undefined ? before.error : error,
    failing: failing ?? before.failing,
    lastContact: next.up === true ? at : before.lastContact,
  }
}
