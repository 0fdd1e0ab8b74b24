/** A regular expression between slashes, with its flags. */
const delimited = /^\/(?<source>.+)\/(?<flags>[imsu]*)$/s

/**
 * Whether the text holds another one, or matches a regular expression that is written between slashes: `/asleep|starting/i`.
 * @throws SyntaxError for an expression that is not valid
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const { source, flags } = delimited.exec(pattern)?.groups ?? {}
  return source === undefined ? text.includes(pattern) : new RegExp(source, flags).test(text)
}
