const nothing = Buffer.alloc(0)

/**
 * Assembles and decodes frames, which begin with their length, from chunks of any size. Holds at most one frame and one chunk. Bytes are
 * copied into one growing buffer, because a list of chunks takes a hundred times the memory if a peer sends single bytes.
 */
export abstract class FrameBuffer<T> {
  #held: Buffer = nothing
  #start = 0
  #end = 0
  #isOwn = false
  readonly #maxBytes: number

  /** @param maxBytes of the longest frame with its length: no more is reserved for one */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Adds received bytes. Call next() until it returns undefined before pushing more; then the chunk may be reused. */
  push(chunk: Buffer): void {
    if (this.#start === this.#end) {
      this.#held = chunk
      this.#start = 0
      this.#end = chunk.length
      this.#isOwn = false
      return
    }
    if (this.#held.length - this.#end < chunk.length) this.#copy(chunk.length)
    this.#end += chunk.copy(this.#held, this.#end)
  }

  /**
   * Returns the offset after the frame that begins at `start`; undefined if its length is not complete before `end`.
   * @throws ProtocolError as soon as the length is not valid, so that a frame that is too long is never held
   */
  protected abstract endOf(bytes: Buffer, start: number, end: number): number | undefined

  /** Decodes the frame from `start` to `end`, which includes its length. @throws ProtocolError if it is not valid */
  protected abstract decode(bytes: Buffer, start: number, end: number): T

  /** Returns the next complete frame, or undefined if more bytes are needed. @throws ProtocolError */
  next(): T | undefined {
    const start = this.#start
    const end = this.endOf(this.#held, start, this.#end)
    if (end === undefined || end > this.#end) {
      if (start === this.#end) this.#held = nothing
      else if (!this.#isOwn) this.#copy(0)
      return undefined
    }
    this.#start = end
    return this.decode(this.#held, start, end)
  }

  /** Copies the bytes into a separate buffer with room for more. */
  #copy(more: number): void {
    const length = this.#end - this.#start + more
    const room = Buffer.allocUnsafe(Math.max(length, Math.min(2 * length, this.#maxBytes)))
    this.#end = this.#held.copy(room, 0, this.#start, this.#end)
    this.#held = room
    this.#start = 0
    this.#isOwn = true
  }
}
