import type { AddSample, Family } from './families/family.ts'

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

/**
 * The sample lines of a family. Of several samples with equal labels only the first is written, because scrapers reject
 * duplicates.
 */
export function sampleLines<T>(family: Family<T>, from: T): string {
  const written: string[] = []
  let lines = ''
  family.read(from, (value, ...values) => {
    const known = knownValue(value)
    if (known === undefined) return
    const own = labelText(family.labels, values)
    if (written.includes(own)) return
    written.push(own)
    lines += `${family.name}${own === '' ? '' : `{${own}}`} ${known}\n`
  })
  return lines
}

/** Renders the headers once, because they take a third of the time for a single server. */
export const withHeaders = <T>(families: readonly Family<T>[]) =>
  families.map((family) => ({
    family,
    headers: { prometheus: familyHeader(family, 'prometheus'), openmetrics: familyHeader(family, 'openmetrics') },
  }))

/** Returns a function that writes the families of one object with their headers; families without a sample are omitted. */
export function createExposition<T>(families: readonly Family<T>[]): (from: T, format: Format) => string {
  const all = withHeaders(families)
  return (from, format) => {
    let text = ''
    for (const { family, headers } of all) {
      const lines = sampleLines(family, from)
      if (lines !== '') text += headers[format] + lines
    }
    return text
  }
}
