/** No document that is read here is nested deeper: text components, the deepest, are read up to half of it. */
const maxDepth = 512

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

/** Position of the quote that ends the string which begins at `start`; the length of the text if it has no end. */
export function endOfString(text: string, start: number): number {
  for (let end = start; ; ) {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
}

/** Whether a text has more brackets of both kinds than levels are allowed. Few do, and to find brackets is faster than to read all. */
function hasManyBrackets(text: string): boolean {
  let count = 0
  for (const bracket of ['[', '{']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) if (++count > maxDepth) return true
  }
  return false
}

/** Whether the brackets in a text are nested too deep. The text need not be valid JSON. */
function isTooDeep(text: string): boolean {
  if (!hasManyBrackets(text)) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) at = endOfString(text, at)
    else if (unit === openBracket || unit === openBrace) {
      if (++depth > maxDepth) return true
    } else if (unit === closeBracket || unit === closeBrace) depth--
  }
  return false
}

/** The text is nested too deep to be parsed; it may be valid JSON. */
export class NestingError extends SyntaxError {
  override readonly name = 'NestingError'
}

/**
 * Parses JSON from outside of this process. Nesting is counted first, because JSON.parse takes a second for a megabyte of brackets, and
 * the values would exhaust the stack of every recursive function.
 * @throws SyntaxError `not valid JSON`, whose cause is the error of JSON.parse, which quotes the text
 * @throws NestingError `nested deeper than ... levels`
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new NestingError(`nested deeper than ${maxDepth} levels`)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SyntaxError('not valid JSON', { cause })
  }
}
