/** Bytes or text that violate a protocol or exceed a limit. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: 'malformed' | 'too_large'

  constructor(code: 'malformed' | 'too_large', message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
