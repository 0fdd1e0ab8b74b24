/** No document that is read here is nested deeper: text components, the deepest, are read up to half of it. */
const maxDepth = 512

const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d]

/** Position of the quote that ends the string which begins at `start`; the length of the text if it has no end. */
function endOfString(text: string, start: number): number {
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

/**
 * Checks the nesting and the number of values of a text, which need not be valid JSON.
 * @throws NestingError
 * @throws SyntaxError
 */
function checkStructure(text: string, maxValues: number): void {
  if (text.length <= maxValues && !hasManyBrackets(text)) return
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) at = endOfString(text, at)
    else if (unit === openBracket || unit === openBrace) {
      if (++depth > maxDepth) throw new NestingError(`nested deeper than ${maxDepth} levels`)
      values++
    } else if (unit === closeBracket || unit === closeBrace) depth--
    else if (unit === comma) values++
    if (values > maxValues) throw new SyntaxError(`of more than ${maxValues} values`)
  }
}

/** The text is nested too deep to be parsed; it may be valid JSON. */
export class NestingError extends SyntaxError {
  override readonly name = 'NestingError'
}

/** Far more values than a server has to say; with more of them, a megabyte takes up to 100 ms to parse. */
export const maxReplyValues = 65_536

/**
 * Parses JSON from outside of this process. Nesting is counted first, because JSON.parse takes a second for a megabyte of brackets, and
 * the values would exhaust the stack of every recursive function.
 * @param maxValues maximum number of opening brackets and commas; default: any
 * @throws SyntaxError `not valid JSON`, whose cause is the error of JSON.parse, which quotes the text, or `of more than ... values`
 * @throws NestingError `nested deeper than ... levels`
 */
export function parseJson(text: string, maxValues = Number.POSITIVE_INFINITY): unknown {
  checkStructure(text, maxValues)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SyntaxError('not valid JSON', { cause })
  }
}

/** Like {@link parseJson}, but returns undefined for a text that is not valid. */
export function parseJsonIfValid(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
