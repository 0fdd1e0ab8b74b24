import type { HostPort, ServerAddress } from './protocol/address.ts'

/** What the configuration says of one game server. Each part but the name switches a source on. */
export interface ServerSettings {
  readonly name: string
  /** Where the status is asked; without it the directory tells. */
  readonly address?: ServerAddress
  readonly rcon?: { readonly address: HostPort; readonly password: string }
  readonly management?: ManagementSettings
  readonly query?: HostPort
  /** The server's own directory on this machine, absolute. */
  readonly directory?: string
  /** What was said of a source that only the directory can complete: an address without its password, a secret without a URL. */
  readonly partial?: PartialSettings
}

export interface PartialSettings {
  readonly rcon?: HostPort
  readonly rconPassword?: string
  readonly management?: Partial<ManagementSettings>
}

export interface ManagementSettings {
  /** `ws://` or `wss://`. */
  readonly url: string
  readonly secret: string
  /** PEM file with the authority that signed the server's certificate. */
  readonly caFile?: string
  /** SHA-256 fingerprint of the server's certificate, hexadecimal, lower case, without colons. */
  readonly fingerprint?: string
}

export interface PollSettings {
  /** Milliseconds between two polls of one server. */
  readonly interval: number
  /** Milliseconds one source may take in one poll. */
  readonly timeout: number
  /** Milliseconds after which what was read no longer counts. */
  readonly staleAfter: number
}
