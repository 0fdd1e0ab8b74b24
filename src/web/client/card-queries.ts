/** Maximum length of a query: many proxies allow 8 KB for a URL, and the service 16 KB for all headers. */
const maxQuery = 4_000

/** The names of servers as one query or, if it would be too long, as several. */
export function toQueries(servers: readonly string[]): readonly string[] {
  const queries: string[] = []
  for (const server of servers) {
    // Encoded twice: a comma within a name must not separate names.
    const name = encodeURIComponent(encodeURIComponent(server))
    const last = queries.at(-1)
    if (last === undefined || last.length + name.length > maxQuery) queries.push(name)
    else queries[queries.length - 1] = `${last}%2C${name}`
  }
  return queries
}
