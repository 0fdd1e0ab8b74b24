/** A message of the event stream. */
export interface StreamEvent {
  readonly event: string
  readonly data: string
}

/**
 * Parses server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) in the form that the service writes:
 * lines end with LF or CRLF, `retry` is ignored.
 * @param onId called with the id of each message once it is complete: a client that resumes after an id must have the whole message
 * @returns a function that accepts the stream in chunks of any length
 */
export function createEventParser(onEvent: (event: StreamEvent) => void, onId: (id: string) => void): (text: string) => void {
  let rest = ''
  let event = ''
  let data: string[] = []
  let id: string | undefined

  function parseLine(line: string): void {
    if (line === '') {
      if (id !== undefined) onId(id)
      if (data.length > 0) onEvent({ event: event || 'message', data: data.join('\n') })
      event = ''
      data = []
      id = undefined
      return
    }
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id') id = value
  }

  return (text) => {
    const lines = text.split('\n')
    lines[0] = rest + lines[0]
    rest = lines.pop() ?? ''
    for (const line of lines) parseLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
}
