import { once } from 'node:events'
import { WebSocket } from 'ws'
import { SourceError } from '../../game/errors.ts'
import { HostAddresses, systemNetwork } from '../../game/network.ts'
import { readingMethods } from '../../game/protocol/management.ts'
import type { Player } from '../../game/protocol/player.ts'
import { normaliseUuid } from '../../game/protocol/uuid.ts'
import { openSocket } from '../../game/sources/management/secure-socket.ts'
import type { ManagementSettings } from '../../game/sources/management/settings.ts'
import { isRecord } from '../../util/is-record.ts'
import { parseJson } from '../../util/json.ts'
import { hostOfUrl } from '../../util/parse-url.ts'
import { replaceInJson } from './anonymiser.ts'
import type { RawRecording } from './recording.ts'

const maxMessage = 4 * 1024 * 1024

/** Every player in a message: objects with a name, except those of a version. */
function playersIn(value: unknown): readonly Player[] {
  if (Array.isArray(value)) return value.flatMap(playersIn)
  if (!isRecord(value)) return []
  const id = normaliseUuid(value.id)
  const own = typeof value.name === 'string' && !('protocol' in value) ? [{ name: value.name, ...(id && { id }) }] : []
  return [...own, ...Object.values(value).flatMap(playersIn)]
}

interface Message {
  readonly text: string
  readonly value: unknown
  /** The id of a reply; undefined for a notification. */
  readonly id: unknown
}

/** Undefined if the text is not valid JSON. */
function parseMessage(text: string): Message | undefined {
  try {
    const value = parseJson(text)
    return { text, value, id: isRecord(value) && !('method' in value) ? value.id : undefined }
  } catch {
    return undefined
  }
}

/**
 * Calls each method without side effects once. The secret is in a header, which is not recorded.
 * @throws SourceError, or the signal's reason
 */
export async function recordManagement(
  { url, secret, ...trust }: ManagementSettings,
  signal: AbortSignal,
): Promise<RawRecording> {
  const parsed = new URL(url)
  const socket = await openSocket(parsed, trust, new HostAddresses(hostOfUrl(parsed), systemNetwork), signal)
  const ws = new WebSocket(url, {
    createConnection: () => socket,
    headers: { authorization: `Bearer ${secret}` },
    maxPayload: maxMessage,
    perMessageDeflate: false,
  })
  const requests = readingMethods.map((method, index) => ({
    method,
    id: index + 1,
    text: JSON.stringify({ jsonrpc: '2.0', id: index + 1, method, params: [] }),
  }))
  const messages: Message[] = []
  let invalid = 0
  ws.on('message', (data) => {
    const message = parseMessage(String(data))
    if (message === undefined) invalid++
    else messages.push(message)
    const answered = new Set(messages.map(({ id }) => id))
    if (requests.every(({ id }) => answered.has(id))) ws.close()
  })
  try {
    await once(ws, 'open', { signal })
    const closed = once(ws, 'close', { signal })
    for (const { text } of requests) ws.send(text)
    await closed
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const { message } = error as Error
    const isRefused = /\b40[13]\b/.test(message)
    const reason = isRefused ? 'the management secret is wrong' : message
    throw new SourceError(isRefused ? 'auth' : 'closed', `${new URL(url).host}: ${reason}`)
  } finally {
    ws.on('error', () => {})
    ws.terminate()
  }
  return {
    protocol: 'management',
    players: messages.flatMap(({ value }) => playersIn(value)),
    anonymise(replace) {
      const repliesTo = (wanted: number | undefined) =>
        messages.flatMap(({ id, text }) => (id === wanted ? [Buffer.from(replaceInJson(text, replace))] : []))
      const calls = requests.map(({ method, id, text }) => ({
        ...{ request: method, sent: Buffer.from(text), received: repliesTo(id) },
      }))
      const notifications = repliesTo(undefined).map((received) => ({
        ...{ request: 'notification', sent: Buffer.alloc(0), received: [received] },
      }))
      const omitted = invalid === 0 ? [] : [`messages that are not valid JSON: ${invalid}`]
      return { protocol: 'management', exchanges: [...calls, ...notifications], omitted }
    },
  }
}
