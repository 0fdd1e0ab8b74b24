import type { ViewContext } from './context.ts'
import { h, type ViewElement } from './node.ts'
import type { CardHistory } from './types.ts'

/** The state in a part of the time, as the class of its cell. */
export function uptimeLevel(up: number | null): string {
  if (up === null) return 'none'
  if (up >= 0.999) return 'full'
  if (up >= 0.99) return 'good'
  return up >= 0.9 ? 'some' : 'poor'
}

/** A cell is a button, so that touch and the keyboard reach its label; arrow keys move within a bar. */
const cell = (level: string, label: string, isLast: boolean): ViewElement =>
  h('button', { type: 'button', class: `cell ${level}`, 'aria-label': label, 'data-tip': label, tabindex: isLast ? 0 : -1 })

/** The mean of the days, weighted by their known time; null if there is none. */
export function meanUptime(days: CardHistory['days']): number | null {
  const known = days.filter((day) => day.up !== null)
  const weight = known.reduce((sum, day) => sum + day.known, 0)
  return weight === 0 ? null : known.reduce((sum, day) => sum + (day.up ?? 0) * day.known, 0) / weight
}

const mean = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

const row = (kind: string, title: string, total: string, bar: ViewElement): ViewElement =>
  h(
    'div',
    { class: `uptime ${kind}` },
    h('div', { class: 'line' }, h('span', {}, title), h('span', { class: 'strong' }, total)),
    bar,
  )

export function viewDays(name: string, { days }: CardHistory, { texts, format }: ViewContext): ViewElement {
  const { card } = texts
  const count = format.integer(days.length)
  const total = meanUptime(days)
  const cells = days.map(({ date, up, known, maintenance = 0 }, index) => {
    const day = format.date(date)
    const label = up === null ? card.dayUnknown(day) : card.day(day, format.percent(up))
    const partly = up !== null && known < 0.995 ? `, ${card.partlyKnown(format.percent(known))}` : ''
    const maintained = maintenance > 0 ? `, ${card.maintained(format.percent(maintenance))}` : ''
    return cell(maintenance > known ? 'maintained' : uptimeLevel(up), label + partly + maintained, index === days.length - 1)
  })
  // Days before the first record are not part of the promise.
  const [first] = days.filter(({ known }) => known > 0)
  const isNew = first !== undefined && first !== days[0]
  return row(
    'days',
    isNew ? card.since(format.date(first.date)) : card.days(count),
    total === null ? card.unknownUptime : card.uptime(format.percent(total)),
    h('div', { class: 'cells', role: 'group', 'aria-label': card.uptimeOfDays(name, count) }, cells),
  )
}

export function viewHours(name: string, { parts, from, to }: CardHistory, { texts, format }: ViewContext): ViewElement {
  const { card } = texts
  const step = (to - from) / parts.length
  const total = mean(parts)
  const cells = parts.map((up, index) => {
    const [begin, end] = [format.time(from + index * step), format.time(from + (index + 1) * step)]
    const label = up === null ? card.partUnknown(begin, end) : card.part(begin, end, format.percent(up))
    return cell(uptimeLevel(up), label, index === parts.length - 1)
  })
  const first = parts.findIndex((part) => part !== null)
  return row(
    'hours',
    first > 0 ? card.since(format.time(from + first * step)) : card.hours,
    total === null ? card.unknownUptime : card.uptime(format.percent(total)),
    h('div', { class: 'cells', role: 'group', 'aria-label': card.uptimeOfHours(name) }, cells),
  )
}

/** The last 24 hours as a picture of few elements, for pages with many servers. */
export function viewStrip(name: string, { parts }: CardHistory, { texts, format }: ViewContext): ViewElement {
  const { card } = texts
  const total = mean(parts)
  const text = total === null ? card.unknownUptime : card.uptime(format.percent(total))
  const levels = parts.map(uptimeLevel)
  const starts = levels.flatMap((level, index) => (level === levels[index - 1] ? [] : [index]))
  const rects = starts.map((start, index) =>
    h('rect', { class: levels[start] ?? '', x: start, width: (starts[index + 1] ?? parts.length) - start, height: 1 }),
  )
  const box = { viewBox: `0 0 ${parts.length} 1`, preserveAspectRatio: 'none', class: 'cells strip', role: 'img' }
  return h(
    'div',
    { class: 'uptime' },
    h('span', { class: 'strong' }, total === null ? '–' : format.percent(total)),
    h('svg', { ...box, 'aria-label': `${card.uptimeOfHours(name)}: ${text}` }, rects),
  )
}
