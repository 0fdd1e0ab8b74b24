/**
 * Returns a matcher for a pattern in which `*` matches any characters. Not a regular expression, which could backtrack exponentially on
 * texts from clients.
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  return (text) => {
    if (last === undefined) return text === first
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let from = first.length
    // The earliest match of each piece leaves the most room for the next ones.
    for (const piece of rest) {
      const at = text.indexOf(piece, from)
      if (at === -1) return false
      from = at + piece.length
    }
    return from + last.length <= text.length
  }
}

/** Returns a matcher for servers by their names or groups. @param patterns empty: every server matches */
export function serverPatterns(patterns: readonly string[]): (server: string, group: string | undefined) => boolean {
  const matchers = patterns.map(wildcard)
  return (server, group) =>
    matchers.length === 0 || matchers.some((matches) => matches(server) || (group !== undefined && matches(group)))
}
