import type { Histogram } from '../src/util/histogram.ts'
import { type Format, familyHeader, formatBound } from './text.ts'

/** The sample lines of one series of a histogram. @param labels escaped: `method="GET"`, or empty */
export function histogramLines(name: string, labels: string, histogram: Histogram, format: Format): string {
  const more = labels === '' ? '' : `${labels},`
  const own = labels === '' ? '' : `{${labels}}`
  const buckets = histogram
    .buckets()
    .map(({ upperBound, count }) => `${name}_bucket{${more}le="${formatBound(upperBound, format)}"} ${count}\n`)
  const created = format === 'openmetrics' ? `${name}_created${own} ${histogram.createdAt}\n` : ''
  return `${buckets.join('')}${name}_sum${own} ${histogram.sum}\n${name}_count${own} ${histogram.count}\n${created}`
}

const histogram = (name: string, help: string, labels: readonly string[] = []) =>
  ({ name, type: 'histogram', help, labels }) as const
type HistogramFamily = ReturnType<typeof histogram>

export const requestFamily = histogram(
  'http_request_duration_seconds',
  'Duration of HTTP requests until the end of the reply, by route pattern, in seconds.',
  ['method', 'route', 'status_class'],
)

export const nameLookupFamily = histogram(
  'tickwarden_name_lookup_duration_seconds',
  'Duration of name lookups that the cache could not serve, including failed ones and time spent waiting for other lookups, in seconds.',
)

export const pollDelayFamily = histogram(
  'tickwarden_poll_delay_seconds',
  'Delay between the time at which a poll was due and its start, in seconds.',
)

export const histogramFamilies: readonly HistogramFamily[] = [requestFamily, nameLookupFamily, pollDelayFamily]

/** The family of one histogram without labels. */
export const histogramText = (family: HistogramFamily, histogram: Histogram, format: Format): string =>
  familyHeader(family, format) + histogramLines(family.name, '', histogram, format)
