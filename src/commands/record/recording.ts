import type { ListedPlayer } from '../../game/protocol/player-list.ts'

/** One request and what the server sent back. */
export interface Exchange {
  /** `status`, `ping`, an RCON command, a method: what a test finds the exchange by. */
  readonly request: string
  readonly sent: Buffer
  /** Packets, datagrams or messages, in the order of their arrival. */
  readonly received: readonly Buffer[]
}

/** What one protocol of a server said, ready to be published. */
export interface Recording {
  readonly protocol: 'status' | 'rcon' | 'query' | 'management'
  readonly exchanges: readonly Exchange[]
  /** What was left out, and why. */
  readonly omitted?: readonly string[]
}

/** What one protocol said, with its secrets and names. */
export interface RawRecording {
  readonly protocol: Recording['protocol']
  /** Everybody who is named in it. */
  readonly players: readonly ListedPlayer[]
  /** The same with every text replaced. */
  anonymise(replace: (text: string) => string): Recording
}

/** A recording as the text of a fixture file. */
export function formatRecording({ protocol, exchanges, omitted }: Recording): string {
  const encoding = protocol === 'management' ? 'utf8' : 'hex'
  const shown = exchanges.map(({ request, sent, received }) => ({
    request,
    sent: sent.toString(encoding),
    received: received.map((bytes) => bytes.toString(encoding)),
  }))
  return `${JSON.stringify({ protocol, encoding, ...(omitted?.length && { omitted }), exchanges: shown }, undefined, 2)}\n`
}
