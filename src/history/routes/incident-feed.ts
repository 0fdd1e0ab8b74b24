import { createHash } from 'node:crypto'
import { describeIncident, type Incident } from '../incidents.ts'

export interface FeedOptions {
  readonly title: string
  /** URL of the service, with a trailing slash; undefined if it is not known: then there are no links. */
  readonly base: string | undefined
  /** Of the feed, from the base. */
  readonly path: string
  /** Of the page that it belongs to, from the base. */
  readonly page: string
  /** Unix milliseconds from which an empty feed is. */
  readonly startedAt: number
}

export const atomType = 'application/atom+xml; charset=utf-8'

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** XML has no control characters, not even escaped. */
const text = (value: string): string =>
  value
    .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => escapes[character] ?? '')

/** An ID that stays the same wherever the feed is read. */
function idOf(...parts: readonly string[]): string {
  const hash = createHash('sha1').update(JSON.stringify(parts)).digest('hex')
  return `urn:uuid:${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

const date = (at: number): string => new Date(at).toISOString()

/** When something about it last changed that the feed tells. */
const changedAt = ({ from, to, notes }: Incident): number => Math.max(from, to ?? 0, ...notes.map(({ at }) => at))

/** The incidents as an Atom feed (RFC 4287). */
export function incidentFeed(incidents: readonly Incident[], { title, base, path, page, startedAt }: FeedOptions): string {
  const link = (rel: string, type: string, target: string) =>
    base === undefined ? '' : `<link rel="${rel}" type="${type}" href="${text(base + target)}"/>`
  const entries = incidents.map((incident) => {
    const { server, from, notes } = incident
    const lines = [describeIncident(incident), ...notes.map(({ at, text }) => `${date(at)}: ${text}`)]
    return [
      '<entry>',
      `<id>${idOf('incident', server, String(from))}</id>`,
      `<title>${text(describeIncident(incident))}</title>`,
      `<published>${date(from)}</published>`,
      `<updated>${date(changedAt(incident))}</updated>`,
      link('alternate', 'text/html', `servers/${encodeURIComponent(server)}`),
      `<summary>${text(lines.join('\n'))}</summary>`,
      '</entry>\n',
    ].join('')
  })
  return [
    '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${idOf('feed', title, page)}</id><title>${text(title)}</title>`,
    `<updated>${date(incidents.reduce((latest, incident) => Math.max(latest, changedAt(incident)), startedAt))}</updated>`,
    `<author><name>Tickwarden</name></author>`,
    link('self', 'application/atom+xml', path),
    link('alternate', 'text/html', page),
    '\n',
    ...entries,
    '</feed>\n',
  ].join('')
}
