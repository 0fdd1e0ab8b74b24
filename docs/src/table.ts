/** A Markdown table with columns of equal width; the first row is the head. */
export function table(...rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const [head = []] = cells
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [first = '', ...others] = cells.map(line)
  return [first, line(widths.map((width) => '-'.repeat(width))), ...others].join('\n')
}

export const code = (text: string): string => `\`${text}\``

/** Names of settings, of metrics and of the game's properties as code. */
export const marked = (text: string): string =>
  text.replaceAll(/\b[A-Z]+_[A-Z_]+\b|\b(?:minecraft|tickwarden)_[a-z0-9_]+\b|\b[a-z-]+=true\b/g, code)

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
