/** Elements parsed at once. */
const batch = 100

const [quote, backslash, comma, open, close] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d]

/**
 * The elements of a JSON array, some at a time, so that a large one neither stops the process while it is parsed nor
 * stands in memory as a whole. Each piece is parsed by the engine; here is only found where elements end.
 * @throws SyntaxError where the text is not JSON or not an array; elements before that place have been given by then
 */
export function* elementsOf(text: string): Generator<readonly unknown[]> {
  // JSON's white space, and a byte order mark.
  let at = /^\uFEFF?[ \t\r\n]*/.exec(text)?.[0].length ?? 0
  if (text.charCodeAt(at) !== open) throw new SyntaxError('no array')
  let start = ++at
  let [depth, count, given] = [0, 0, 0]
  const parse = (end: number): readonly unknown[] => JSON.parse(`[${text.slice(start, end)}]`) as unknown[]
  for (; at < text.length; at++) {
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

/** Place of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = start; ; ) {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
}
