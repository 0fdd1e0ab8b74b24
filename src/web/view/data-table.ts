import { type Child, h, type ViewElement } from './node.ts'
import type { Texts } from './texts/en.ts'

/**
 * Shows the values of a chart as a table.
 * @param name of the chart, for the code in the browser, which fills it when it is opened
 * @param table absent while it is closed
 */
export const viewAsTable = (name: string, title: string, texts: Texts['server'], table?: ViewElement): ViewElement =>
  h(
    'details',
    { class: 'as-table', 'data-table': name },
    h('summary', {}, texts.asTable, h('span', { class: 'hidden' }, `: ${title}`)),
    h('div', {}, table),
  )

/** @param columns the names of the columns; the first one has the headings of the rows */
export const viewDataTable = (title: string, columns: readonly string[], rows: readonly (readonly Child[])[]): ViewElement =>
  h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(([head, ...cells]) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, head),
            cells.map((cell) => h('td', {}, cell)),
          ),
        ),
      ),
    ),
  )
