const names = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
]

export const archivePage = 'upcoming-releases/archive'

/** The months that the archive page links to, oldest first, each once. */
export function readArchive(markdown: string) {
  /** By month. Lower case as in Reddit's page names; links use any case. */
  const pages = new Map<string, string>()
  /** Links of the same form whose last part is not a month. */
  const unknown: string[] = []
  for (const [link, year, name = ''] of markdown.matchAll(/\/upcoming-releases\/(\d{4})\/([A-Za-z]+)\b/g)) {
    const page = link.slice(1)
    const month = names.indexOf(name.toLowerCase()) + 1
    if (month === 0) unknown.push(page)
    else pages.set(`${year}-${String(month).padStart(2, '0')}`, page.toLowerCase())
  }
  return { pages: new Map([...pages].sort()), unknown }
}
