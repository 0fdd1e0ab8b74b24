import { TableFooterOptionsBuilder, TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common'
import type { ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table'
import { datasource, noData, steps, type Threshold, target } from './panel.ts'

export interface Column {
  readonly title: string
  readonly expr: string
  /** Default `short`. */
  readonly unit?: string
  readonly thresholds?: readonly Threshold[]
  readonly decimals?: number
  readonly mappings?: readonly ValueMapping[]
}

/** Current values with one row per value of the label `by` and one column per query. */
export function table(options: {
  readonly title: string
  readonly description: string
  readonly by: string
  readonly byTitle: string
  readonly columns: readonly Column[]
  /** Title of the column to sort by, largest first. */
  readonly sortBy?: string
  readonly link?: { readonly title: string; readonly url: string }
  readonly width?: number
  readonly height?: number
}) {
  const panel = new TableBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit('short')
    .noValue('no data')
    .thresholds(steps([{ colour: 'text' }]))
    .targets(options.columns.map(({ expr, title }, index) => target(title, expr, index).instant().format(PromQueryFormat.Table)))
    .withTransformation({ id: 'joinByField', options: { byField: options.by, mode: 'outer' } })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: Object.fromEntries(
          ['Time', ...options.columns.map((_, index) => `Time ${index + 1}`)].map((name) => [name, true]),
        ),
        renameByName: {
          [options.by]: options.byTitle,
          ...Object.fromEntries(
            options.columns.map(({ title }, index) => [
              options.columns.length === 1 ? 'Value' : `Value #${String.fromCharCode(65 + index)}`,
              title,
            ]),
          ),
        },
      },
    })
    .span(options.width ?? 24)
    .height(options.height ?? 9)
    .footer(new TableFooterOptionsBuilder().enablePagination(true))
  for (const { title, unit = 'short', thresholds, decimals, mappings } of options.columns) {
    panel.overrideByName(title, [
      { id: 'unit', value: unit },
      ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
      { id: 'mappings', value: [...(mappings ?? []), noData] },
      ...(thresholds === undefined
        ? []
        : [
            { id: 'thresholds', value: steps(thresholds).build() },
            { id: 'custom.cellOptions', value: { type: 'color-text' } },
          ]),
    ])
  }
  if (options.sortBy !== undefined) panel.sortBy([new TableSortByFieldStateBuilder().displayName(options.sortBy).desc(true)])
  if (options.link) panel.overrideByName(options.byTitle, [{ id: 'links', value: [options.link] }])
  return panel
}
