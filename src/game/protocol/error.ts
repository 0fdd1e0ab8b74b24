/** Bytes or text that break the rules of a protocol, or its bounds. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: 'malformed' | 'too_large'

  constructor(code: 'malformed' | 'too_large', message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
