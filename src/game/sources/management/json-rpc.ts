import type { WebSocket } from 'ws'
import type { AbortSignalLike } from '../../../util/abortable.ts'
import { isRecord } from '../../../util/is-record.ts'
import { maxReplyValues, parseJson } from '../../../util/json.ts'
import { load } from '../../../util/load.ts'
import { codeOf, SourceError, toSourceError, withProgress } from '../../errors.ts'
import type { HostAddresses } from '../../network.ts'
import type { PhaseTimer } from '../../phases.ts'
import { ProtocolError } from '../../protocol/error.ts'
import { truncate } from '../../protocol/text.ts'
import { type Measure, unmeasured } from '../source.ts'
import { openSocket } from './secure-socket.ts'
import type { ManagementSettings } from './settings.ts'

/** A list of 10,000 players is about 1 MB. */
const maxMessage = 4 * 1024 * 1024

/** The reply to a call is an error object (https://www.jsonrpc.org/specification#error_object). */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export const methodNotFound = -32601

export interface JsonRpcOptions {
  /** The secret is sent as a bearer token; it is never part of a message. */
  readonly settings: ManagementSettings
  readonly hostAddresses: HostAddresses
  readonly phases?: PhaseTimer | undefined
  /** Every message is read within it. */
  readonly measure?: Measure | undefined
  readonly onNotification: (method: string, params: unknown) => void
  /** Called once when the connection is closed, except by `close()`. All pending calls have been rejected before. */
  readonly onClose: (error: SourceError) => void
}

export interface JsonRpc {
  /** Number of received messages: distinguishes a slow peer from a dead one. */
  readonly received: number
  /** @throws SourceError (connection lost), JsonRpcError (an error reply), or the signal's reason */
  call(method: string, signal: AbortSignalLike): Promise<unknown>
  /** Closes the connection; pending calls reject with `aborted`. */
  close(): void
}

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * JSON-RPC 2.0 over one WebSocket (RFC 6455), as the game's management protocol uses it: https://minecraft.wiki/w/Minecraft_Server_Management_Protocol
 * @throws SourceError `auth` if the secret is wrong, `tls` if the certificate is not trusted, `unsupported` if it is not a WebSocket
 * server
 */
export async function connectJsonRpc(options: JsonRpcOptions, signal: AbortSignalLike): Promise<JsonRpc> {
  const { settings } = options
  const url = new URL(settings.url)
  const target = url.host
  const socket = await openSocket(url, settings, options.hostAddresses, signal, options.phases)
  const library = load<typeof import('ws')>('ws')
  const ws = new library.WebSocket(url, {
    createConnection: () => socket,
    headers: { authorization: `Bearer ${settings.secret}` },
    maxPayload: maxMessage,
    perMessageDeflate: false,
    // One message per turn of the event loop: code that awaits a reply must run before the next message is handled.
    allowSynchronousEvents: false,
  })
  await opened(ws, target, signal)
  options.phases?.end('first_byte')
  return createClient(ws, target, options)
}

function opened(ws: WebSocket, target: string, signal: AbortSignalLike): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error?: unknown) => {
      signal.removeEventListener('abort', abort)
      if (error === undefined) return resolve()
      reject(error)
      ws.terminate()
    }
    const abort = () => finish(withProgress(toSourceError(signal.reason, target), 'connected'))
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    ws.on('error', (cause) => finish(toWebSocketError(cause, target)))
    ws.once('open', () => finish())
    ws.once('close', () => finish(new SourceError('closed', `${target}: connection closed during the handshake`)))
    ws.once('unexpected-response', (request, { statusCode }) => {
      request.destroy()
      finish(
        statusCode === 401 || statusCode === 403
          ? new SourceError('auth', `${target}: the management secret was rejected (HTTP ${statusCode})`)
          : new SourceError('unsupported', `${target}: HTTP ${statusCode} instead of a WebSocket`),
      )
    })
  })
}

function toWebSocketError(cause: Error, target: string): SourceError {
  const code = codeOf(cause)
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
    return new SourceError('too_large', `${target}: a message is longer than ${maxMessage} bytes`, { cause })
  if (code.startsWith('WS_ERR') || code.startsWith('HPE_'))
    return new SourceError('malformed', `${target}: ${cause.message}`, { cause })
  if (/^(Invalid|Unexpected|Server sent|Missing)/.test(cause.message))
    return new SourceError('malformed', `${target}: ${cause.message}`, { cause })
  return toSourceError(cause, target)
}

function createClient(ws: WebSocket, target: string, { onNotification, onClose, measure = unmeasured }: JsonRpcOptions): JsonRpc {
  const pending = new Map<number, Pending>()
  let lastId = 0
  let received = 0
  let ended: SourceError | undefined

  function end(error: SourceError, isOwnClose = false): void {
    if (ended !== undefined) return
    ended = error
    ws.terminate()
    for (const { reject } of [...pending.values()]) reject(error)
    if (!isOwnClose) onClose(error)
  }

  function receive(message: unknown): void {
    if (!isRecord(message)) throw new ProtocolError('malformed', 'a message is not a JSON-RPC object')
    const { id, method, result, error } = message
    if (typeof method === 'string') {
      // A message with an id would be a request to the client, which the protocol does not define.
      if (id === undefined || id === null) onNotification(method, message.params)
      return
    }
    const call = typeof id === 'number' ? pending.get(id) : undefined
    if (isRecord(error)) {
      const code = typeof error.code === 'number' ? error.code : 0
      const message = typeof error.message === 'string' ? error.message : ''
      call?.reject(new JsonRpcError(code, truncate(message || `code ${code}`, 200)))
    } else call?.resolve(result)
  }

  ws.on('message', (data) => {
    if (ended !== undefined) return
    received++
    try {
      measure(() => {
        const message = parseJson(String(data), maxReplyValues)
        for (const part of Array.isArray(message) ? message : [message]) receive(part)
      })
    } catch (error) {
      const cause = error instanceof SyntaxError ? new ProtocolError('malformed', `a message is ${error.message}`) : error
      end(toSourceError(cause, target))
    }
  })
  ws.on('error', (cause) => end(toWebSocketError(cause, target)))
  ws.on('close', (code) => end(new SourceError('closed', `${target}: the connection was closed (code ${code})`)))

  return {
    get received() {
      return received
    },
    call(method, signal) {
      return new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        if (signal.aborted) return reject(signal.reason)
        const id = ++lastId
        const finish = () => {
          pending.delete(id)
          signal.removeEventListener('abort', abort)
        }
        const fail = (error: unknown) => {
          finish()
          reject(error)
        }
        const abort = () => fail(signal.reason)
        signal.addEventListener('abort', abort, { once: true })
        pending.set(id, {
          reject: fail,
          resolve(value) {
            finish()
            resolve(value)
          },
        })
        ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: [] }))
      })
    },
    close: () => end(new SourceError('aborted', `${target}: no longer watched`), true),
  }
}
