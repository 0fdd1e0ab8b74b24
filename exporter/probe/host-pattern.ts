/**
 * A matcher for host names: `*` matches any characters, including dots; letter case is ignored. Not a regular expression, which
 * could backtrack exponentially on names from clients.
 */
export function hostPattern(pattern: string): (host: string) => boolean {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const last = rest.pop()
  return (given) => {
    const host = given.toLowerCase().replace(/\.$/, '')
    if (last === undefined) return host === first
    if (!host.startsWith(first) || !host.endsWith(last)) return false
    let from = first.length
    // The earliest match of each piece leaves the most room for the next ones.
    for (const piece of rest) {
      const at = host.indexOf(piece, from)
      if (at === -1) return false
      from = at + piece.length
    }
    return from + last.length <= host.length
  }
}
