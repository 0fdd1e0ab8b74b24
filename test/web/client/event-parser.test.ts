import { expect, it } from 'vitest'
import { createEventParser, type StreamEvent } from '../../../src/web/client/event-parser.ts'

/** The messages of a stream that arrives in these chunks. */
function parse(...pieces: readonly string[]) {
  const events: StreamEvent[] = []
  const ids: string[] = []
  const take = createEventParser(
    (event) => events.push(event),
    (id) => ids.push(id),
  )
  for (const piece of pieces) take(piece)
  return { events, ids }
}

const stream = 'id: 1\nevent: snapshot\ndata: {"a":"b: c"}\n\n:\n\nid: 2\nevent: change\ndata: {"ü":"§x"}\n\n'
const parsed = {
  events: [
    { event: 'snapshot', data: '{"a":"b: c"}' },
    { event: 'change', data: '{"ü":"§x"}' },
  ],
  ids: ['1', '2'],
}

it('returns each message with its id', () => {
  expect(parse(stream)).toEqual(parsed)
})

it.each(Array.from({ length: stream.length - 1 }, (_, index) => index + 1))('accepts any chunk size: %i', (at) => {
  expect(parse(stream.slice(0, at), stream.slice(at))).toEqual(parsed)
})

it('accepts a stream character by character, and lines that end with CRLF', () => {
  expect(parse(...stream)).toEqual(parsed)
  expect(parse(...stream.replaceAll('\n', '\r\n'))).toEqual(parsed)
})

it.each(Array.from({ length: stream.length }, (_, index) => index))('reports only the ids of complete messages: %i', (at) => {
  const { events, ids } = parse(stream.slice(0, at))
  expect(ids).toEqual(parsed.ids.slice(0, events.length))
})

it.each([
  ['is not complete before its empty line', 'event: change\ndata: 1\n', []],
  ['without data is ignored, and so is its name', 'event: up\n\ndata: 1\n\n', [{ event: 'message', data: '1' }]],
  ['joins lines of data', 'data: 1\ndata: 2\n\n', [{ event: 'message', data: '1\n2' }]],
  ['may have no space after the colon, and only one space is removed', 'event:a\ndata:  1\n\n', [{ event: 'a', data: ' 1' }]],
  ['may have empty data', 'data\n\n', [{ event: 'message', data: '' }]],
  ['ignores comments and unknown fields', ': data: 1\nretry: 5\nfoo: 1\ndata: 2\n\n', [{ event: 'message', data: '2' }]],
])('a message %s', (_, text, events) => {
  expect(parse(text).events).toEqual(events)
})
