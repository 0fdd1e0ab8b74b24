import { endOfString, parseJson } from '../../util/json.ts'

/** Elements per batch if the end of each has to be found, and UTF-16 units per batch if an edge can be guessed. */
const [batch, pieceSize] = [100, 24 * 1024]

const [quote, comma, open, close] = [0x22, 0x2c, 0x5b, 0x5d]

/**
 * Parses a JSON array in batches, so that a large one does not block requests: `npm run bench -- data` compares the longest
 * pause with that of JSON.parse on the whole text. JSON.parse parses each batch; this only finds where elements end.
 * @param size approximate UTF-16 units per batch
 * @throws SyntaxError if the text is not a JSON array, possibly after some elements have been yielded
 */
export function* elementsOf(text: string, size = pieceSize): Generator<readonly unknown[]> {
  // JSON's white space, and a byte order mark.
  let at = /^\uFEFF?[ \t\r\n]*/.exec(text)?.[0].length ?? 0
  if (text.charCodeAt(at) !== open) throw new SyntaxError('no array')
  let start = ++at
  let [depth, count, given] = [0, 0, 0]
  const parse = (end: number): readonly unknown[] => parseJson(`[${text.slice(start, end)}]`) as unknown[]
  for (; at < text.length; at++) {
    if (at === start) {
      const edge = likelyEdge(text, start + size, size)
      const elements = edge === undefined ? undefined : parsed(() => parse(edge))
      if (edge !== undefined && elements !== undefined) {
        given += elements.length
        yield elements
        at = edge
        start = edge + 1
        continue
      }
    }
    const unit = text.charCodeAt(at)
    if (unit === quote) {
      at = endOfString(text, at)
    } else if (unit === comma) {
      if (depth > 0 || ++count < batch) continue
      const elements = parse(at)
      if (elements.length === 0) throw new SyntaxError('no element before a comma')
      given += elements.length
      yield elements
      count = 0
      start = at + 1
    } else if (unit === open || unit === 0x7b) {
      depth++
    } else if (unit === close || unit === 0x7d) {
      if (--depth >= 0) continue
      if (unit !== close || !/^[ \t\r\n]*$/.test(text.slice(at + 1))) break
      const elements = parse(at)
      if (elements.length === 0 && given > 0) throw new SyntaxError('no element after a comma')
      yield elements
      return
    }
  }
  throw new SyntaxError('no end')
}

/**
 * Position of the first comma between two objects after `from`. It may be inside an element: then the text before it is not a list of
 * elements, and parsing it fails. Scanning every character for the ends of elements is slower than JSON.parse.
 */
function likelyEdge(text: string, from: number, size: number): number | undefined {
  const found = from < text.length ? /\}[ \t\r\n]*,(?=[ \t\r\n]*\{)/.exec(text.slice(from, from + size)) : null
  return found === null ? undefined : from + found.index + found[0].length - 1
}

/** Undefined if the text does not parse. */
function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
