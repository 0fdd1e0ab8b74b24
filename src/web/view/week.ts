import type { ViewContext } from './context.ts'
import { h, type ViewElement } from './node.ts'
import { viewAsTable, viewDataTable } from './parts.ts'
import type { WeekOfPlayers } from './types.ts'

const [days, hours] = [7, 24]
/** Shades of the numbers from one player to the maximum; 0 is a shade of its own. */
const shades = 5

/** The mean number of players of each hour of the week, Monday first; null where unknown. */
export type WeekHours = readonly (readonly (number | null)[])[]

export const unknownWeek: WeekHours = Array.from({ length: days }, () => Array<null>(hours).fill(null))

/** The hours of a week in the time zone of this process, which is the reader's in the browser. */
export function weekHours({ from, step, players }: WeekOfPlayers): WeekHours {
  const sums = Array.from({ length: days }, () => Array.from({ length: hours }, () => ({ count: 0, sum: 0 })))
  for (const [index, value] of players.entries()) {
    const at = new Date(from + (index + 0.5) * step)
    const hour = sums[(at.getDay() + 6) % days]?.[at.getHours()]
    if (value === null || hour === undefined) continue
    hour.count++
    hour.sum += value
  }
  return sums.map((day) => day.map(({ count, sum }) => (count === 0 ? null : sum / count)))
}

/** An hour in words: its weekday, start and end. */
function hourTexts(day: number, hour: number, { format }: ViewContext): readonly [string, string, string] {
  const at = (of: number) => format.time(new Date(2024, 0, 1, of).getTime())
  return [format.weekday(day, 'long'), at(hour), at((hour + 1) % hours)]
}

const countOf = (players: number, { format }: ViewContext) => format.count(players, true)

const shadeOf = (players: number | null, max: number): string =>
  players === null ? 'unknown' : `shade-${players === 0 || max === 0 ? 0 : Math.max(1, Math.ceil((players / max) * shades))}`

/** The players of each hour of the week as shades. @param week see `unknownWeek` before it is loaded */
export function viewWeek(week: WeekHours, context: ViewContext): ViewElement {
  const { server } = context.texts
  const cells = week.flatMap((row, day) => row.map((players, hour) => ({ players, day, hour })))
  const max = Math.max(0, ...cells.map(({ players }) => players ?? 0))
  const peak = cells.find(({ players }) => max > 0 && players === max)
  const summary =
    peak &&
    server.weekPeak(
      context.format.weekday(peak.day, 'short'),
      hourTexts(peak.day, peak.hour, context)[1],
      countOf(max, context).text,
    )
  const cell = ({ players, day, hour }: (typeof cells)[number]) => {
    if (week === unknownWeek) return h('i', { class: 'unknown' })
    const when = hourTexts(day, hour, context)
    const tip = players === null ? server.weekUnknown(...when) : server.weekHour(...when, countOf(players, context))
    return h('i', { class: shadeOf(players, max), 'data-tip': tip })
  }
  const swatch = (shade: string) => h('i', { class: shade })
  const { less, more, unknown } = server.weekScale
  return h('section', { class: 'panel week' }, [
    h('div', { class: 'line' }, [h('h2', {}, server.week), h('span', { class: 'peak' }, summary ?? ' ')]),
    h('p', { class: 'hint' }, server.weekHint),
    h('div', { class: 'heat', role: 'img', 'aria-label': `${server.week}. ${summary ?? server.noValues}` }, [
      h('span'),
      Array.from({ length: hours }, (_, hour) => h('span', { class: 'hour' }, hour)),
      week.map((_, day) => [
        h('span', { class: 'day' }, context.format.weekday(day, 'short')),
        cells.slice(day * hours, (day + 1) * hours).map(cell),
      ]),
    ]),
    h('div', { class: 'line foot' }, [
      viewAsTable('week', server.week, server),
      h('p', { class: 'scale', 'aria-hidden': 'true' }, [
        less,
        Array.from({ length: shades + 1 }, (_, shade) => swatch(`shade-${shade}`)),
        more,
        h('span', {}, [swatch('unknown'), unknown]),
      ]),
    ]),
  ])
}

/** The same as numbers: a row for each hour. */
export function viewWeekTable(week: WeekHours, context: ViewContext): ViewElement {
  const { server } = context.texts
  const columns = week.map((_, day) => context.format.weekday(day, 'short'))
  const rows = Array.from({ length: hours }, (_, hour) => [
    hourTexts(0, hour, context)[1],
    ...week.map((day) => (day[hour] === null ? server.weekScale.unknown : countOf(day[hour] ?? 0, context).text)),
  ])
  return viewDataTable(server.week, [server.hour, ...columns], rows)
}
