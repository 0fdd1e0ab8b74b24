import { type Month, monthKey } from './moment.ts'

export interface ArchivedMonth extends Month {
  /** `2024-02` */
  readonly key: string
  /** Its page: `upcoming-releases/2024/february`. Lower case as in Reddit's page names; links use any case. */
  readonly page: string
}

const names = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
]

export const archivePage = 'upcoming-releases/archive'

/** The months that the archive page links to, oldest first, each once. */
export function readArchive(markdown: string) {
  const months = new Map<string, ArchivedMonth>()
  /** Links of the same form whose last part is not a month. */
  const unknown: string[] = []
  for (const [link, year] of markdown.matchAll(/\/upcoming-releases\/(\d{4})\/[A-Za-z]+\b/g)) {
    const page = link.slice(1)
    const month = names.findIndex((name) => page.toLowerCase().endsWith(`/${name}`)) + 1
    if (month === 0) {
      unknown.push(page)
      continue
    }
    const key = monthKey({ year: Number(year), month })
    months.set(key, { year: Number(year), month, key, page: page.toLowerCase() })
  }
  return { months: [...months.values()].sort((a, b) => (a.key < b.key ? -1 : 1)), unknown }
}
