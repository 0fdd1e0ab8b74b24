import { meanUptime } from '../../util/uptime.ts'
import { cleanName } from './clean-text.ts'
import type { ViewContext } from './context.ts'
import { unknownText } from './format.ts'
import { incidentsOfDay } from './incidents.ts'
import { h, type ViewElement } from './node.ts'
import { viewAsTable, viewDataTable } from './parts.ts'
import type { CardHistory, ServerDetails, ShownIncident } from './types.ts'

/** The state in a part of the time, as the class of its cell. */
export function uptimeLevel(up: number | null): string {
  if (up === null) return 'none'
  if (up >= 0.999) return 'full'
  if (up >= 0.99) return 'good'
  return up >= 0.9 ? 'some' : 'poor'
}

/** A part of a bar. Pointers and the keyboard reach its label through the bar: see `setUpTips`. */
const cell = (level: string, label: string): ViewElement => h('i', { class: `cell ${level}`, 'data-tip': label })

/** One slider, whose value is the position of a cell and whose text is the label of that cell. */
const bar = (label: string, cells: readonly ViewElement[]): ViewElement => {
  const last = cells.length - 1
  return h(
    'div',
    {
      class: 'cells',
      role: 'slider',
      tabindex: 0,
      'aria-label': label,
      'aria-valuemin': 0,
      'aria-valuemax': last,
      'aria-valuenow': last,
      'aria-valuetext': String(cells[last]?.attributes['data-tip'] ?? ''),
    },
    cells,
  )
}

const mean = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

const uptimeText = (up: number | null, { texts: { card }, format }: ViewContext): string =>
  up === null ? card.unknownUptime : card.uptime(format.percent(up))

const row = (kind: string, title: string, total: string, bar: ViewElement): ViewElement =>
  h('div', { class: `uptime ${kind}` }, [
    h('div', { class: 'line' }, [h('span', {}, title), h('span', { class: 'strong' }, total)]),
    bar,
  ])

/** @param incidents are told with their days */
export function viewDays(
  name: string,
  { days }: CardHistory,
  context: ViewContext,
  incidents: readonly ShownIncident[] = [],
): ViewElement {
  const { texts, format } = context
  const { card } = texts
  const count = format.count(days.length)
  const total = meanUptime(days)
  const cells = days.map(({ date, up, known, maintenance = 0 }) => {
    const day = format.date(date)
    const label = up === null ? card.dayUnknown(day) : card.day(day, format.percent(up))
    const partly = up !== null && known < 0.995 ? `, ${card.partlyKnown(format.percent(known))}` : ''
    const maintained = maintenance > 0 ? `, ${card.maintained(format.percent(maintenance))}` : ''
    const told = incidentsOfDay(incidents, date, context)
    const more = told === '' ? '' : `. ${told}`
    return cell(maintenance > known ? 'maintained' : uptimeLevel(up), label + partly + maintained + more)
  })
  // Days before the first record are not part of the promise.
  const [first] = days.filter(({ known }) => known > 0)
  const isNew = first !== undefined && first !== days[0]
  return row(
    'days',
    isNew ? card.since(format.date(first.date)) : card.days(count),
    uptimeText(total, context),
    bar(card.uptimeOfDays(name, count), cells),
  )
}

export function viewHours(name: string, { parts, from, to, since }: CardHistory, context: ViewContext): ViewElement {
  const { format, now } = context
  const { card } = context.texts
  const step = (to - from) / parts.length
  const total = mean(parts)
  const cells = parts.map((up, index) => {
    const start = from + index * step
    // The last part is not over yet.
    const [begin, end] = [format.time(start), format.time(Math.max(start, Math.min(start + step, now)))]
    const label = up === null ? card.partUnknown(begin, end) : card.part(begin, end, format.percent(up))
    return cell(uptimeLevel(up), label)
  })
  return row(
    'hours',
    since !== null && parts[0] === null ? card.since(format.time(since)) : card.hours,
    uptimeText(total, context),
    bar(card.uptimeOfHours(name), cells),
  )
}

/** Both bars of the page of a server, with tables of the same. @param open the names of the tables that are shown */
export function viewUptime(
  { server: { name: given }, incidents }: ServerDetails,
  history: CardHistory,
  open: ReadonlySet<string>,
  context: ViewContext,
): ViewElement {
  const { server } = context.texts
  const name = cleanName(given)
  const table = (of: keyof typeof server.uptimeOf, view: () => ViewElement) =>
    viewAsTable(of, server.uptimeOf[of], server, open.has(of) ? view() : undefined)
  return h('section', { class: 'panel past' }, [
    h('h2', {}, server.uptime),
    viewHours(name, history, context),
    table('hours', () => viewHoursTable(history, context)),
    viewDays(name, history, context, incidents),
    table('days', () => viewDaysTable(history, context)),
  ])
}

/** Newest first, as the other table. */
function viewHoursTable({ parts, from, to }: CardHistory, { texts: { server, card }, format }: ViewContext): ViewElement {
  const step = (to - from) / parts.length
  const rows = parts.map((up, index) => [
    format.dateTime(from + index * step),
    up === null ? card.unknownUptime : format.percent(up),
  ])
  const { time, up } = server.uptimeColumns
  return viewDataTable(server.uptimeOf.hours, [time, up], rows.toReversed())
}

function viewDaysTable({ days }: CardHistory, { texts: { server, card }, format }: ViewContext): ViewElement {
  const { time, up, known, maintenance } = server.uptimeColumns
  const hasMaintenance = days.some(({ maintenance = 0 }) => maintenance > 0)
  const rows = days.map(({ date, up, known, maintenance = 0 }) => [
    format.date(date),
    up === null ? card.unknownUptime : format.percent(up),
    format.percent(known),
    ...(hasMaintenance ? [format.percent(maintenance)] : []),
  ])
  return viewDataTable(server.uptimeOf.days, [time, up, known, ...(hasMaintenance ? [maintenance] : [])], rows.toReversed())
}

/** The last 24 hours as a picture of few elements, for pages with many servers. */
export function viewStrip(name: string, { parts }: CardHistory, context: ViewContext): ViewElement {
  const { card } = context.texts
  const total = mean(parts)
  const levels = parts.map(uptimeLevel)
  const starts = levels.flatMap((level, index) => (level === levels[index - 1] ? [] : [index]))
  const rects = starts.map((start, index) =>
    h('rect', { class: levels[start] ?? '', x: start, width: (starts[index + 1] ?? parts.length) - start, height: 1 }),
  )
  const box = { viewBox: `0 0 ${parts.length} 1`, preserveAspectRatio: 'none', class: 'cells strip', role: 'img' }
  return h('div', { class: 'uptime' }, [
    h('span', { class: 'strong' }, total === null ? unknownText : context.format.percent(total)),
    h('svg', { ...box, 'aria-label': `${card.uptimeOfHours(name)}: ${uptimeText(total, context)}` }, rects),
  ])
}
