import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'

/** Unix milliseconds as OpenTelemetry's packages expect them: seconds and nanoseconds. */
export const toHrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]

/** The units of OpenTelemetry for those that end the names of metrics. */
const units: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By', ratio: '1' }

const unitOf = (name: string): string => units[/_(seconds|bytes|ratio)(_total)?$/.exec(name)?.[1] ?? ''] ?? ''

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))

const sampleStart = /^(\w+)(?:\{|\s)/
const label = /[{,](\w+)="((?:[^"\\]|\\.)*)"/g

/** The start of a counter that did not start with the process, such as the tick counter of a game server. */
const unknownStart: HrTime = [0, 0]

interface Sample {
  readonly name: string
  readonly attributes: Attributes
  readonly value: number
}

/** Parses a line of our own exposition; undefined for any other line. */
function toSample(line: string): Sample | undefined {
  const name = sampleStart.exec(line)?.[1]
  if (name === undefined) return undefined
  const end = line.lastIndexOf(' ')
  const attributes: Attributes = {}
  for (const [, key = '', value = ''] of line.slice(name.length, end).matchAll(label)) attributes[key] = unescaped(value)
  const text = line.slice(end + 1)
  return { name, attributes, value: text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text) }
}

interface Family {
  readonly name: string
  description: string
  type: string
  readonly samples: Sample[]
}

interface HistogramParts {
  readonly attributes: Attributes
  readonly buckets: { readonly bound: number; readonly count: number }[]
  sum: number
  count: number
}

/** Joins the samples of each histogram of a family. */
function histogramsOf({ name, samples }: Family): readonly HistogramParts[] {
  const all = new Map<string, HistogramParts>()
  for (const { name: sample, attributes, value } of samples) {
    const { le, ...own } = attributes
    const key = JSON.stringify(own)
    const parts = all.get(key) ?? { attributes: own, buckets: [], sum: 0, count: 0 }
    all.set(key, parts)
    if (sample === `${name}_bucket`)
      parts.buckets.push({ bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count: value })
    else if (sample === `${name}_sum`) parts.sum = value
    else if (sample === `${name}_count`) parts.count = value
  }
  return [...all.values()]
}

const toHistogram = ({ buckets, sum, count }: HistogramParts) => ({
  ...{ sum, count },
  buckets: {
    boundaries: buckets.flatMap(({ bound }) => (Number.isFinite(bound) ? [bound] : [])),
    counts: buckets.map(({ count: total }, index) => total - (buckets[index - 1]?.count ?? 0)),
  },
})

function toMetric(family: Family, startTime: HrTime, endTime: HrTime): MetricData | undefined {
  const { name, description, type, samples } = family
  const descriptor = { name, description, unit: unitOf(name), valueType: ValueType.DOUBLE }
  const times = { startTime, endTime }
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  const points = () =>
    samples.map(({ attributes, value }) => ({
      ...{ startTime: 'server' in attributes ? unknownStart : startTime, endTime },
      ...{ attributes, value },
    }))
  if (type === 'gauge') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() }
  if (type === 'counter') return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }
  if (type !== 'histogram') return undefined
  const dataPoints = histogramsOf(family).map((parts) => ({ ...times, attributes: parts.attributes, value: toHistogram(parts) }))
  return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }
}

const header = /^# (HELP|TYPE) (\w+) (.*)$/

/** Converts the exposition of /metrics, line by line, so that both have the same names, labels and values. */
export class MetricDataReader {
  readonly #families: Family[] = []

  /** @param line of the Prometheus text format */
  add(line: string): void {
    const [, kind, name = '', text = ''] = header.exec(line) ?? []
    let family = this.#families.at(-1)
    if (kind !== undefined && family?.name !== name) {
      family = { name, description: '', type: '', samples: [] }
      this.#families.push(family)
    }
    if (family === undefined) return
    if (kind === 'HELP') family.description = unescaped(text)
    else if (kind === 'TYPE') family.type = text
    else {
      const sample = toSample(line)
      if (sample !== undefined) family.samples.push(sample)
    }
  }

  metrics(startTime: HrTime, endTime: HrTime): MetricData[] {
    return this.#families.flatMap((family) => toMetric(family, startTime, endTime) ?? [])
  }
}
