import type { Player } from '../../game/protocol/player.ts'

/** One request and its replies. */
export interface Exchange {
  /** Key of the exchange, for tests: `status`, `ping`, an RCON command or a method. */
  readonly request: string
  readonly sent: Buffer
  /** Packets, datagrams or messages, in the order of their arrival. */
  readonly received: readonly Buffer[]
}

/** The recording of one protocol, ready to be published. */
export interface Recording {
  readonly protocol: 'status' | 'rcon' | 'query' | 'management'
  readonly exchanges: readonly Exchange[]
  /** Omitted exchanges and the reasons. */
  readonly omitted?: readonly string[]
}

/** The recording of one protocol, with secrets and names. */
export interface RawRecording {
  readonly protocol: Recording['protocol']
  /** Every player named in it. */
  readonly players: readonly Player[]
  /** Returns the recording with every text replaced. */
  anonymise(replace: (text: string) => string): Recording
}

/** Formats a recording as a fixture file. */
export function formatRecording({ protocol, exchanges, omitted }: Recording): string {
  const encoding = protocol === 'management' ? 'utf8' : 'hex'
  const shown = exchanges.map(({ request, sent, received }) => ({
    request,
    sent: sent.toString(encoding),
    received: received.map((bytes) => bytes.toString(encoding)),
  }))
  return `${JSON.stringify({ protocol, encoding, ...(omitted?.length && { omitted }), exchanges: shown }, undefined, 2)}\n`
}
