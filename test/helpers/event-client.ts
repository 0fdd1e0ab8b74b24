import { get, type IncomingMessage } from 'node:http'

export interface ReceivedEvent {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>> & { readonly server: string; readonly at: number }
}

export interface EventClient {
  readonly response: IncomingMessage
  readonly events: ReceivedEvent[]
  /** Everything received, unparsed. */
  text(): string
  readonly ended: Promise<void>
  close(): void
}

/** A client that collects the events of a stream. */
export async function openEvents(url: string, headers: Record<string, string> = {}): Promise<EventClient> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject)
  })
  const events: ReceivedEvent[] = []
  let all = ''
  let rest = ''
  response.setEncoding('utf8')
  response.on('data', (piece: string) => {
    all += piece
    const messages = (rest + piece).split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) {
      if (message.startsWith(':')) continue
      const match = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(message)
      if (match === null) throw new Error(`not an event: ${message}`)
      events.push({ id: match[1]!, event: match[2]!, data: JSON.parse(match[3]!) })
    }
  })
  const ended = new Promise<void>((resolve) => {
    response.on('close', resolve)
    response.on('error', () => resolve())
  })
  return { response, events, text: () => all, ended, close: () => response.destroy() }
}
