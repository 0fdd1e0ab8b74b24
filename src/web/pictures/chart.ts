import type { RangeValues } from '../../history/values/range.ts'
import { type SeriesName, series as seriesOf } from '../../history/values/series.ts'
import { cleanName } from '../view/clean-text.ts'
import { drawLine } from './line.ts'
import { drawText, textWidth } from './text.ts'
import type { Theme } from './theme.ts'

export interface ChartOptions {
  readonly server: string
  readonly values: RangeValues
  readonly width: number
  readonly height: number
  readonly theme: Theme
}

const margin = { top: 36, right: 16, bottom: 26 } as const
/** Left of the plot: with room for labels of up to six digits, which most charts have, and between a label and the plot. */
const [minLeft, gap] = [46, 6] as const
const hour = 3_600_000
const day = 24 * hour
const days = [1, 2, 7, 30, 90, 180, 360].map((count) => count * day)
const timeSteps = [10 * 60_000, 20 * 60_000, hour, 2 * hour, 4 * hour, 6 * hour, ...days]
/** Pixels between the starts of two labels of the time, and from the end of one to the next. */
const [minTimeDistance, minTimeGap] = [64, 8] as const

/** 1, 2 or 5 times a power of ten, with at most `count` steps up to `max`. */
function niceStep(max: number, count: number): number {
  const rough = max / count
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
}

function timeLabel(time: number, step: number): string {
  const text = new Date(time).toISOString()
  return step < day ? text.slice(11, 16) : text.slice(step >= 30 * day ? 0 : 5, 10)
}

const rangeLabel = ({ from, to }: RangeValues): string =>
  to - from > day ? `${Math.round((to - from) / day)} days` : `${Math.round((to - from) / hour)} h`

/** Runs of consecutive values, as positions. */
function runsOf(values: readonly (number | null)[]): readonly (readonly number[])[] {
  const runs: number[][] = []
  values.forEach((value, index) => {
    if (value === null) return
    const last = runs.at(-1)
    if (last?.at(-1) === index - 1) last.push(index)
    else runs.push([index])
  })
  return runs
}

/** Removes rounding noise. */
const number = (value: number): string => String(value < 100_000 ? Number(value.toPrecision(6)) : Math.round(value))
const fixed = (value: number): string => value.toFixed(1)

/** The mean of each series as a line, minimum to maximum as a band, gaps as gaps, and the peak of a single series, as SVG. */
export async function drawChart({ server, values, width, height, theme }: ChartOptions): Promise<string> {
  const names = Object.keys(values.series) as SeriesName[]
  const all = names.flatMap((name) => values.series[name]?.max ?? [])
  const highest = all.reduce<number>((max, value) => Math.max(max, value ?? 0), 0)
  const plotHeight = height - margin.top - margin.bottom
  // Leaves room for the label of the highest value.
  const wanted = Math.max(highest * (1 + 14 / plotHeight), 1)
  const step = niceStep(wanted, Math.max(2, Math.floor(plotHeight / 36)))
  const top = Math.ceil(wanted / step) * step
  const small = { size: 10, color: theme.muted }
  const labels = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => {
    const text = number(index * step)
    return { value: index * step, text, width: textWidth(text, small) }
  })
  const left = Math.max(minLeft, ...labels.map((label) => Math.ceil(label.width) + 2 * gap))
  const plot = { width: width - left - margin.right, height: plotHeight }
  const count = (values.to - values.from) / values.step
  const x = (index: number) => left + ((index + 0.5) / count) * plot.width
  const y = (value: number) => margin.top + plot.height * (1 - value / top)
  const title = { size: 13, bold: true, color: theme.text }

  const isEmpty = all.every((value) => value === null)
  const grid = labels.map((label) => {
    const at = y(label.value)
    return `<path d="M${left} ${fixed(at)}h${plot.width}" stroke="${theme.border}"/>${drawText(label.text, left - gap - label.width, at + 3.5, small)}`
  })

  const distanceOf = (step: number) => Math.max(minTimeDistance, textWidth(timeLabel(values.from, step), small) + minTimeGap)
  const timeStep = timeSteps.find((step) => ((values.to - values.from) / step) * distanceOf(step) <= plot.width) ?? 360 * day
  const times: string[] = []
  for (let time = Math.ceil(values.from / timeStep) * timeStep; time < values.to; time += timeStep) {
    const at = left + ((time - values.from) / (values.to - values.from)) * plot.width
    const text = timeLabel(time, timeStep)
    const half = textWidth(text, small) / 2
    if (at - half < left - 20 || at + half > width) continue
    times.push(`<path d="M${fixed(at)} ${margin.top + plot.height}v4" stroke="${theme.muted}"/>`)
    times.push(drawText(text, at - half, height - 9, small))
  }

  const curves = names.map((name, position) => {
    const { min, mean, max } = values.series[name] ?? { min: [], mean: [], max: [] }
    const color = theme.lines[position % theme.lines.length] ?? theme.text
    return runsOf(mean)
      .map((run) => {
        const at = (list: readonly (number | null)[]) => (index: number) => `${fixed(x(index))} ${fixed(y(list[index] ?? 0))}`
        // A single value is drawn as a short line: otherwise it would be invisible.
        const first = run[0] ?? 0
        const line = run.length === 1 ? `${at(mean)(first)}m-1.5 0h3` : run.map(at(mean)).join('L')
        const band = [...run.map(at(max)), ...run.toReversed().map(at(min))].join('L')
        return `<path d="M${band}Z" fill="${color}" opacity=".22"/><path d="M${line}" fill="none" stroke="${color}" stroke-width="1.6"/>`
      })
      .join('')
  })

  const [name] = names
  const { unit } = name === undefined ? { unit: 'players' } : seriesOf[name]
  const heading = [
    { ...title, text: cleanName(server) },
    ...names.map((each, position) => ({
      ...title,
      text: ` · ${seriesOf[each].label}`,
      color: names.length === 1 ? theme.text : (theme.lines[position % theme.lines.length] ?? theme.text),
    })),
    { ...title, text: unit === 'players' ? '' : ` (${unit})` },
  ]
  const end = `${rangeLabel(values)}, UTC`
  const endWidth = textWidth(end, small)
  const peakIndex = names.length === 1 && highest > 0 ? all.indexOf(highest) : -1
  const peakText = number(highest)
  const peakX = Math.min(
    width - margin.right - textWidth(peakText, small),
    Math.max(left, x(peakIndex) - textWidth(peakText, small) / 2),
  )
  const peak =
    peakIndex === -1
      ? ''
      : `<circle cx="${fixed(x(peakIndex))}" cy="${fixed(y(highest))}" r="3" fill="${theme.text}"/>${drawText(peakText, peakX, y(highest) - 6, { ...small, color: theme.text })}`
  const empty = 'Nothing recorded'

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="${theme.background}" stroke="${theme.border}"/>`,
    await drawLine(heading, margin.right, 22, width - 2 * margin.right - endWidth - 12),
    drawText(end, width - margin.right - endWidth, 21, small),
    ...(isEmpty ? [] : grid),
    ...times,
    ...curves,
    peak,
    ...(isEmpty
      ? [
          drawText(empty, left + (plot.width - textWidth(empty, title)) / 2, margin.top + plot.height / 2, {
            ...title,
            color: theme.muted,
          }),
        ]
      : []),
    '</svg>',
  ].join('')
}
