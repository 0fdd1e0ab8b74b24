import type { ViewContext } from './context.ts'
import type { HealthName } from './health.ts'
import { type Child, h, type ViewElement } from './node.ts'
import type { Texts } from './texts/en.ts'

// What several views have.

/** A state in words with its colour; the mark also has a different shape, for readers who cannot distinguish the colours. */
export const viewBadge = (name: HealthName, { texts }: ViewContext): ViewElement =>
  h('span', { class: `badge ${name}` }, [h('span', { class: 'mark', 'aria-hidden': 'true' }), texts.states[name]])

/** A relative time that the code in the browser keeps up to date: `3 minutes ago`. */
export const viewRelative = (at: number, { format, now }: ViewContext): ViewElement =>
  h('time', { datetime: new Date(at).toISOString(), title: format.dateTime(at), 'data-relative': at }, format.relative(at, now))

/**
 * Shows the values of a chart as a table.
 * @param name of the chart, for the code in the browser, which fills it when it is opened
 * @param table absent while it is closed
 */
export const viewAsTable = (name: string, title: string, texts: Texts['server'], table?: ViewElement): ViewElement =>
  h('details', { class: 'as-table', 'data-table': name }, [
    h('summary', {}, [texts.asTable, h('span', { class: 'hidden' }, `: ${title}`)]),
    h('div', {}, table),
  ])

/** A row of a table, whose first cell is its heading. */
export const viewTableRow = ([head, ...cells]: readonly Child[]): ViewElement =>
  h('tr', {}, [h('th', { scope: 'row' }, head), cells.map((cell) => h('td', {}, cell))])

/**
 * A table in a place that scrolls.
 * @param columns their names; the first one has the headings of the rows
 * @param rows their cells, or rows from viewTableRow()
 */
export const viewDataTable = (
  title: string,
  columns: readonly string[],
  rows: readonly (ViewElement | readonly Child[])[],
  { style, caption }: { readonly style?: string; readonly caption?: string } = {},
): ViewElement =>
  h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title }, [
    h('table', { class: style }, [
      caption !== undefined && h('caption', {}, caption),
      h('thead', {}, [h('tr', {}, [columns.map((name) => h('th', { scope: 'col' }, name))])]),
      h('tbody', {}, [rows.map((row) => ('tag' in row ? row : viewTableRow(row)))]),
    ]),
  ])
