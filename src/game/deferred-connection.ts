import type net from 'node:net'
import { Duplex } from 'node:stream'
import type { AbortSignalLike } from '../util/abortable.ts'

export interface OpenedConnection {
  /** Connected. */
  readonly socket: net.Socket
  /** The address of the server; undefined if it is unknown, for example because a proxy resolves its name. */
  readonly remoteAddress: string | undefined
}

/**
 * A connection that needs a preliminary step, such as a handshake with a proxy or the choice of an address. Writes are buffered until `open` resolves.
 * @param open its signal is aborted when the connection is destroyed
 * @returns a socket that emits `connect` when `open` resolves, and `error` when it rejects
 */
export function createDeferredConnection(open: (signal: AbortSignal) => Promise<OpenedConnection>): net.Socket {
  // A net.Socket needs a system handle from the start. This class implements every member that the sources use.
  return new DeferredConnection(open) as Duplex as net.Socket
}

class DeferredConnection extends Duplex {
  readonly #abort = new AbortController()
  readonly #ready: Promise<void>
  #socket: net.Socket | undefined
  #remoteAddress: string | undefined
  #noDelay = false

  constructor(open: (signal: AbortSignal) => Promise<OpenedConnection>) {
    super({ allowHalfOpen: false })
    this.#ready = open(this.#abort.signal).then(
      (opened) => this.#use(opened),
      (error: unknown) => void this.destroy(error instanceof Error ? error : new Error(String(error))),
    )
  }

  get remoteAddress(): string | undefined {
    return this.#remoteAddress
  }

  get localAddress(): string | undefined {
    return this.#socket?.localAddress
  }

  get localPort(): number | undefined {
    return this.#socket?.localPort
  }

  get remotePort(): number | undefined {
    return this.#socket?.remotePort
  }

  setNoDelay(noDelay = true): this {
    this.#noDelay = noDelay
    this.#socket?.setNoDelay(noDelay)
    return this
  }

  /** Does nothing: the connection is destroyed at the deadline of the poll. */
  setTimeout(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  #use({ socket, remoteAddress }: OpenedConnection): void {
    if (this.destroyed) {
      socket.destroy()
      return
    }
    this.#socket = socket
    this.#remoteAddress = remoteAddress
    socket.setNoDelay(this.#noDelay)
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause()
    })
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
    this.emit('connect')
  }

  override _read(): void {
    this.#socket?.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    void this.#ready.then(() => {
      if (this.#socket === undefined) done()
      else this.#socket.write(chunk, encoding, done)
    })
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket?.end()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#abort.abort(error ?? undefined)
    this.#socket?.destroy()
    done(error)
  }
}

/**
 * Waits until the socket is connected.
 * @param signal destroys the socket
 * @throws the system error
 */
export function connected(socket: net.Socket, signal: AbortSignalLike): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const abort = () => socket.destroy()
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    const end = () => {
      signal.removeEventListener('abort', abort)
      socket.off('error', reject)
      // Keeps an error from being thrown before the caller has added its own listener.
      socket.on('error', () => {})
    }
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
    socket.once('connect', () => {
      end()
      resolve(socket)
    })
  })
}
