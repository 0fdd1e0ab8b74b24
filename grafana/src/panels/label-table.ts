import { TableFooterOptionsBuilder } from '@grafana/grafana-foundation-sdk/common'
import { PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table'
import { datasource, steps, target } from './panel.ts'

/** Current series with one row per series and one column per label. */
export function labelTable(options: {
  readonly title: string
  readonly description: string
  readonly expr: string
  /** Column titles of the visible labels, in order. */
  readonly labels: Readonly<Record<string, string>>
  readonly whenEmpty?: string
  readonly width?: number
  readonly height?: number
}) {
  const labels = Object.entries(options.labels)
  return new TableBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(datasource)
    .unit('short')
    .thresholds(steps([{ colour: 'text' }]))
    .targets([target(options.title, options.expr, 0).instant().format(PromQueryFormat.Table)])
    .noValue(options.whenEmpty ?? 'no data')
    .withTransformation({
      id: 'organize',
      options: {
        includeByName: Object.fromEntries(labels.map(([name]) => [name, true])),
        indexByName: Object.fromEntries(labels.map(([name], index) => [name, index])),
        renameByName: options.labels,
      },
    })
    .span(options.width ?? 24)
    .height(options.height ?? 8)
    .footer(new TableFooterOptionsBuilder().enablePagination(true))
}
