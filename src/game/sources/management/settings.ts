export interface ManagementSettings {
  /** `ws://` or `wss://`. */
  readonly url: string
  readonly secret: string
  /** Absolute path of a PEM file with the authority that signed the server's certificate. */
  readonly caFile?: string
  /** SHA-256 fingerprint of the server's certificate: 64 lower-case hexadecimal digits without colons. */
  readonly fingerprint?: string
}
