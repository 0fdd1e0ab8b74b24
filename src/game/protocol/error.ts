/** Bytes or text that break the rules of a protocol, or its bounds. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: 'malformed' | 'too_large'

  constructor(code: 'malformed' | 'too_large', message: string) {
    super(message)
    this.code = code
  }
}
