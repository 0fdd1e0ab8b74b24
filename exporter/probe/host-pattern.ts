/**
 * A test for host names: `*` stands for any characters, dots too; letter case does not count, and the pattern is for the whole name.
 * Its time grows with pattern times name, whatever the two are: a regular expression of several `.*` would try every way to share
 * the name among them, and names come from whoever asks.
 */
export function hostPattern(pattern: string): (host: string) => boolean {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const last = rest.pop()
  return (given) => {
    const host = given.toLowerCase().replace(/\.$/, '')
    if (last === undefined) return host === first
    if (!host.startsWith(first) || !host.endsWith(last)) return false
    let from = first.length
    // The earliest place for each piece leaves the most room for those behind it.
    for (const piece of rest) {
      const at = host.indexOf(piece, from)
      if (at === -1) return false
      from = at + piece.length
    }
    return from + last.length <= host.length
  }
}
