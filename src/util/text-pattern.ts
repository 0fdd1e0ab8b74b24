/** Limits the time that a regular expression can take which the user has written. Longer than any real MOTD. */
const maxLength = 1_000

/** A regular expression between slashes, with flags. */
const delimited = /^\/(?<source>.+)\/(?<flags>[imsu]*)$/s

/**
 * Returns whether the start of the text contains the pattern or, if the pattern is written as `/asleep|starting/i`, matches this expression.
 * @throws SyntaxError if the regular expression is not valid
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const { source, flags } = delimited.exec(pattern)?.groups ?? {}
  const start = text.slice(0, maxLength)
  // recheck: it is a setting, and the text is short
  return source === undefined ? start.includes(pattern) : new RegExp(source, flags).test(start)
}
