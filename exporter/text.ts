import type { AddSample } from './families/family.ts'

/** The two text formats: Prometheus 0.0.4 and OpenMetrics 1.0.0. They differ in headers, bucket bounds and the ending. */
export type Format = 'prometheus' | 'openmetrics'

export const contentTypes: Readonly<Record<Format, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Ends an exposition. */
export const endings: Readonly<Record<Format, string>> = { prometheus: '', openmetrics: '# EOF\n' }

/** Label values may come from a game server, so longer ones are truncated. */
const maxValueLength = 128

/**
 * A label value between its quotes. Control characters are replaced: Prometheus treats NUL as the end of the text, so one
 * server's malformed version could hide the series of all others.
 */
export function escapeLabel(value: string, maxLength = maxValueLength): string {
  const short = value.length > maxLength ? value.slice(0, maxLength) : value
  if (!/[\\"\p{Cc}]/u.test(short)) return short
  return short.replace(/[\\"\p{Cc}]/gu, (character) => {
    if (character === '\n') return '\\n'
    return character === '\\' || character === '"' ? `\\${character}` : '\ufffd'
  })
}

/**
 * The label of a server. Its name is not truncated, and control characters become `\u0001` and the like, as does a backslash where the name
 * already has that text: two servers must not have the same series, of which a scraper keeps one.
 */
export const serverLabel = (name: string): string => {
  const shown = name.replace(
    /(?!\n)\p{Cc}|\\(?=u00[0-9a-f]{2})/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `server="${escapeLabel(shown, Number.POSITIVE_INFINITY)}"`
}

export function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

/** The value of a bucket's label `le`: OpenMetrics requires a float such as 1.0; `1` would be another series. */
export const formatBound = (bound: number, format: Format): string =>
  format === 'openmetrics' && Number.isInteger(bound) ? bound.toFixed(1) : formatValue(bound)

/** The units of OpenMetrics that end the names of our families. */
const unitOf = (family: string): string | undefined => /_(seconds|bytes|ratio)$/.exec(family)?.[1]

/** The HELP and TYPE lines, in OpenMetrics also the UNIT line. */
export function familyHeader({ name, type, help }: { name: string; type: string; help: string }, format: Format): string {
  // OpenMetrics names a counter's family without the suffix that its samples carry.
  const family = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  if (format === 'prometheus') return `# HELP ${family} ${escaped}\n# TYPE ${family} ${type}\n`
  const unit = unitOf(family)
  const unitLine = unit === undefined ? '' : `# UNIT ${family} ${unit}\n`
  return `# HELP ${family} ${escaped.replaceAll('"', '\\"')}\n# TYPE ${family} ${type}\n${unitLine}`
}

/** The value as a number; undefined if it is unknown. */
export function knownValue(value: Parameters<AddSample>[0]): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value !== undefined && Number.isFinite(value) ? value : undefined
}

export function labelText(names: readonly string[], values: readonly string[]): string {
  let text = ''
  for (let index = 0; index < names.length; index++) {
    text += `${index === 0 ? '' : ','}${names[index]}="${escapeLabel(values[index] ?? '')}"`
  }
  return text
}
