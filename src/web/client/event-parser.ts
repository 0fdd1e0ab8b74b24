/** A message of the event stream. */
export interface StreamEvent {
  readonly event: string
  readonly data: string
}

/**
 * Parses server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) in the form that the service writes:
 * lines end with LF or CRLF, `retry` is ignored.
 * @param onId called with the id of each message
 * @returns a function that accepts the stream in chunks of any length
 */
export function createEventParser(onEvent: (event: StreamEvent) => void, onId: (id: string) => void): (text: string) => void {
  let rest = ''
  let event = ''
  let data: string[] = []

  function parseLine(line: string): void {
    if (line === '') {
      if (data.length > 0) onEvent({ event: event || 'message', data: data.join('\n') })
      event = ''
      data = []
      return
    }
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id') onId(value)
  }

  return (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) parseLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
}
