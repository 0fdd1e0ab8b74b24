/** @param json the data of the event */
export const formatMessage = (id: number, event: string, json: string): string => `id: ${id}\nevent: ${event}\ndata: ${json}\n\n`

/** One event, encoded once for all clients, when it is first sent: that is rare while there are no clients. */
export class LiveEvent {
  readonly id: number
  readonly server: string
  readonly #name: string
  readonly #data: object
  #bytes: Buffer | undefined
  #earlyBytes: Buffer | undefined

  /** @param data the members after `server` */
  constructor(id: number, server: string, name: string, data: object) {
    this.id = id
    this.server = server
    this.#name = name
    this.#data = data
  }

  get bytes(): Buffer {
    this.#bytes ??= this.#encode(this.id)
    return this.#bytes
  }

  /**
   * The same event with an id from which no client can resume, for clients that have not been sent the state of every server yet:
   * one that is cut off then must receive all states again.
   */
  get earlyBytes(): Buffer {
    // Odd: no log has it.
    this.#earlyBytes ??= this.#encode(this.id + 1)
    return this.#earlyBytes
  }

  #encode(id: number): Buffer {
    return Buffer.from(formatMessage(id, this.#name, JSON.stringify({ server: this.server, ...this.#data })))
  }
}
