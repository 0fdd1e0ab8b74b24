/** A regular expression between slashes, with flags. */
const delimited = /^\/(?<source>.+)\/(?<flags>[imsu]*)$/s

/**
 * Returns whether the text contains the pattern or, if the pattern is written as `/asleep|starting/i`, matches this expression.
 * @throws SyntaxError if the regular expression is not valid
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const { source, flags } = delimited.exec(pattern)?.groups ?? {}
  return source === undefined ? text.includes(pattern) : new RegExp(source, flags).test(text)
}
